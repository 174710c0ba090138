#pragma once
// The problems that Python gives to solvers: a loss, and the target of each example.

#include <cstdint>
#include <span>
#include <variant>

#include "arrays.hpp"
#include "solve/losses.hpp"

namespace treille {

// K problems on the same examples. For classes, problem k separates labels[i] == classes[k] from the rest; otherwise y has one row per
// problem.
struct TargetsIn {
  std::variant<QuadraticShape, LogisticShape> shape;
  In<std::int32_t> labels, classes;
  In<double> y, C;

  std::size_t size() const { return C.size(); }
  std::size_t n_problems() const { return y.size() == 0 ? classes.size() : y.size() / C.size(); }

  // use(loss_of), where loss_of(targets, k, C) is the loss of problem k for such targets, with weights C of the examples.
  template <class Use>
  decltype(auto) with_losses(Use&& use) const {
    auto of_class = [](const TargetsIn& of, std::size_t k, std::span<const double> C) {
      return ClassTargets{view(of.labels), view(of.classes)[k], C};
    };
    if (const auto* logistic = std::get_if<LogisticShape>(&shape)) {
      return use(
          [=](const TargetsIn& of, std::size_t k, std::span<const double> C) { return LogisticLoss(*logistic, of_class(of, k, C)); });
    }
    const auto& given = std::get<QuadraticShape>(shape);
    if (y.size() == 0) {
      return use([=](const TargetsIn& of, std::size_t k, std::span<const double> C) { return QuadraticLoss(given, of_class(of, k, C)); });
    }
    return use([=](const TargetsIn& of, std::size_t k, std::span<const double> C) {
      return QuadraticLoss(given, NumberTargets{view(of.y).subspan(k * of.size(), of.size()), C});
    });
  }
  // use(loss_of), where loss_of(k) is the loss of problem k.
  template <class Use>
  decltype(auto) with_own_losses(Use&& use) const {
    return with_losses([&](auto&& loss_of) { return use([&](std::size_t k) { return loss_of(*this, k, view(C)); }); });
  }
};

}  // namespace treille
