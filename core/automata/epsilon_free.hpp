#pragma once
// The door of operations that take labels one by one.

#include <stdexcept>
#include <string>

#include "automata/machine.hpp"

namespace treille {

inline void require_no_epsilon(const Machine& machine, const char* operation) {
  for (State s = 0; s < machine.size(); ++s)
    for (const Arc& arc : machine.arcs(s))
      if (arc.input == kEpsilon && arc.output == kEpsilon)
        throw std::invalid_argument(std::string(operation) + " needs a machine without epsilon arcs, and state " + std::to_string(s) +
                                    " has one to " + std::to_string(arc.target) + ": call remove_epsilon() first");
}

}  // namespace treille
