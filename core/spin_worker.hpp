#pragma once
// A second thread for work of a few microseconds, too short to start a thread for: it waits for work by spinning.

#include <atomic>
#include <cstdint>
#include <thread>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace treille {

class SpinWorker {
 public:
  SpinWorker() : thread_([this] { serve(); }) {}
  ~SpinWorker() {
    post(nullptr, nullptr);
    thread_.join();
  }
  SpinWorker(const SpinWorker&) = delete;
  SpinWorker& operator=(const SpinWorker&) = delete;

  // Runs both at the same time; neither may throw. If the thread is late (the machine may have other work) the caller does both. One
  // caller at a time.
  template <class Here, class There>
  void run(Here&& here, There&& there) {
    const std::uint64_t turn = post([](void* work) { (*static_cast<std::remove_reference_t<There>*>(work))(); }, &there);
    here();
    if (std::uint64_t before = turn - 1; taken_.compare_exchange_strong(before, turn))
      there();
    else
      while (done_.load(std::memory_order_acquire) != turn) pause();
  }

 private:
  using Call = void (*)(void*);

  std::uint64_t post(Call call, void* work) {
    call_ = call;
    work_ = work;
    const std::uint64_t turn = posted_.load(std::memory_order_relaxed) + 1;
    posted_.store(turn, std::memory_order_release);
    posted_.notify_one();
    return turn;
  }

  void serve() {
    for (std::uint64_t seen = 0;;) {
      std::uint64_t turn = seen;
      for (int k = 0; k < kPatience && (turn = posted_.load(std::memory_order_acquire)) == seen; ++k) pause();
      if (turn == seen) {
        posted_.wait(seen);
        continue;
      }
      seen = turn;
      std::uint64_t before = turn - 1;
      if (!taken_.compare_exchange_strong(before, turn)) continue;
      if (call_ == nullptr) return;
      call_(work_);
      done_.store(turn, std::memory_order_release);
    }
  }

  static void pause() {
#if defined(__x86_64__)
    _mm_pause();
#else
    std::this_thread::yield();
#endif
  }

  static constexpr int kPatience = 1 << 14;  // some 200 microseconds, then it sleeps until called
  // Turns go 1, 2, ...: the last one posted, begun by either thread, and ended by the second one.
  alignas(64) std::atomic<std::uint64_t> posted_{0};
  Call call_ = nullptr;
  void* work_ = nullptr;
  alignas(64) std::atomic<std::uint64_t> taken_{0};
  alignas(64) std::atomic<std::uint64_t> done_{0};
  std::thread thread_;  // last: it reads the others
};

}  // namespace treille
