#pragma once
// Ctrl-C, and the progress of long work. Loops call poll() every few milliseconds at most, or tick() once per item.
//
// A signal handler sets `pending`. The thread that may ask whether the signal is to stop the work (Python's main thread) confirms it in its
// next poll; then all threads of this work leave by the exception `Interrupted`, and threads of other work continue. A poll costs one read
// of a flag that is nearly always false.

#include <atomic>
#include <cstdint>
#include <exception>
#include <thread>

namespace treille {

struct Interrupted : std::exception {
  const char* what() const noexcept override { return "interrupted"; }
};

struct InterruptState {
  std::atomic<bool> pending{false}, confirmed{false};
  std::atomic<std::int64_t> done{0}, total{0};  // items of the current work
  bool (*confirm)() = nullptr;                  // whether to stop; called by the thread `owner` only
  std::thread::id owner;
};
inline InterruptState interrupt;
inline thread_local bool interruptible = false;  // whether this thread does the work that Ctrl-C stops

inline void poll_pending() {
  if (!interruptible) return;
  if (!interrupt.confirmed && interrupt.confirm != nullptr && std::this_thread::get_id() == interrupt.owner) {
    interrupt.pending = false;
    if (interrupt.confirm()) interrupt.confirmed = interrupt.pending = true;
  }
  if (interrupt.confirmed) throw Interrupted();
}

inline void poll() {
  if (interrupt.pending.load(std::memory_order_relaxed)) [[unlikely]]
    poll_pending();
}

// The current work has this many items.
inline void expect(std::size_t items) {
  interrupt.done = 0;
  interrupt.total = static_cast<std::int64_t>(items);
}

inline void tick() {
  poll();
  interrupt.done.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace treille
