#pragma once
// Memory for large arrays, directly from the system in pages: freed memory goes back at once, whereas malloc's arenas would keep it, and
// huge pages avoid the TLB misses of scattered reads. Small arrays come from malloc as usual.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <new>
#include <type_traits>
#include <utility>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>
#endif

namespace treille {

// Prefetches memory that is read soon. The empty statement: GCC takes a function that does nothing else for one without effect, and drops
// calls of it that it does not inline.
inline void request(const void* address) {
  __builtin_prefetch(address);
  asm volatile("" : : "r"(address));
}

#if defined(__linux__)
constexpr std::size_t kLarge = std::size_t{1} << 19, kHugePage = std::size_t{1} << 21;

// Page-aligned array memory; aligned to a huge page when the array fills one, which Linux does only for multiples of huge pages.
// The last huge page is completed when less than half of it would be unused.
inline std::size_t mapped(std::size_t bytes) {
  const std::size_t rest = bytes % kHugePage;
  return bytes > kHugePage && rest > kHugePage / 2 ? bytes + kHugePage - rest : bytes;
}
inline void* map_pages(std::size_t bytes) {
  const std::size_t space = bytes < kHugePage ? bytes : bytes + kHugePage;
  void* const data = mmap(nullptr, space, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (data == MAP_FAILED) throw std::bad_alloc();
  if (space == bytes) return data;
  const auto begin = reinterpret_cast<std::uintptr_t>(data), start = (begin + kHugePage - 1) / kHugePage * kHugePage;
  static const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::uintptr_t end = (start + bytes + page - 1) / page * page;
  if (start > begin) munmap(data, start - begin);
  if (begin + space > end) munmap(reinterpret_cast<void*>(end), begin + space - end);
  return reinterpret_cast<void*>(start);
}
#else
constexpr std::size_t kLarge = ~std::size_t{0};
#endif

#if defined(__linux__)
// Pages that were freed, kept for arrays of the same size while work of many steps lasts: the system clears every page that it gives,
// which takes longer than most work on it. Outside of a PageReuse, and beyond a limit, pages go back at once.
class PageReuse {
 public:
  PageReuse() {
    const std::lock_guard lock(mutex());
    ++depth();
  }
  PageReuse(const PageReuse&) = delete;
  ~PageReuse() {
    const std::lock_guard lock(mutex());
    if (--depth() > 0) return;
    for (const auto& [size, data] : kept()) munmap(data, size);
    kept().clear();
    held() = 0;
  }

  static void* take(std::size_t size) {
    const std::lock_guard lock(mutex());
    const auto found = kept().find(size);
    if (found == kept().end()) return nullptr;
    void* const data = found->second;
    kept().erase(found);
    held() -= size;
    return data;
  }
  static bool keep(void* data, std::size_t size) {
    const std::lock_guard lock(mutex());
    if (depth() == 0 || held() + size > kMost) return false;
    kept().emplace(size, data);
    held() += size;
    return true;
  }

 private:
  static constexpr std::size_t kMost = std::size_t{1} << 28;
  static std::mutex& mutex() {
    static std::mutex value;
    return value;
  }
  static std::multimap<std::size_t, void*>& kept() {
    static std::multimap<std::size_t, void*> value;
    return value;
  }
  static std::size_t& held() {
    static std::size_t value = 0;
    return value;
  }
  static int& depth() {
    static int value = 0;
    return value;
  }
};
#else
struct PageReuse {};
#endif

#if defined(__linux__)
// Asks for huge pages, as long as the system gives them fast. The host of a virtual machine may have reclaimed free memory, and then needs
// 10 ms or more for a huge page; small pages come from memory that it has not reclaimed.
inline void advise(void* data, std::size_t bytes) {
  static std::atomic<bool> slow{false};
  if (bytes < kHugePage || slow.load(std::memory_order_relaxed)) return;
  madvise(data, bytes, MADV_HUGEPAGE);
  auto milliseconds = [] {
    timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return 1e3 * static_cast<double>(time.tv_sec) + 1e-6 * static_cast<double>(time.tv_nsec);
  };
  const double begin = milliseconds();
  *static_cast<volatile char*>(data) = 0;
  if (milliseconds() - begin < 2) return;
  slow.store(true, std::memory_order_relaxed);
  madvise(data, bytes, MADV_NOHUGEPAGE);
}
#endif

inline void* take_memory(std::size_t bytes, bool* cleared = nullptr) {
  if (cleared != nullptr) *cleared = false;
#if defined(__linux__)
  if (bytes >= kLarge) {
    if (void* const data = PageReuse::take(mapped(bytes)); data != nullptr) return data;
    void* data = map_pages(mapped(bytes));
    advise(data, mapped(bytes));
    if (cleared != nullptr) *cleared = true;
    return data;
  }
#endif
  void* data = std::malloc(bytes > 0 ? bytes : 1);
  if (data == nullptr) throw std::bad_alloc();
  return data;
}

inline void give_memory_back(void* data, [[maybe_unused]] std::size_t bytes) noexcept {
#if defined(__linux__)
  if (bytes >= kLarge) {
    if (!PageReuse::keep(data, mapped(bytes))) munmap(data, mapped(bytes));
    return;
  }
#endif
  std::free(data);
}

// Gives back the pages behind the first `kept` bytes of an array; kept must be at least kLarge.
inline void give_tail_back([[maybe_unused]] void* data, [[maybe_unused]] std::size_t bytes, [[maybe_unused]] std::size_t kept) noexcept {
#if defined(__linux__)
  static const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  auto whole = [](std::size_t size) { return (mapped(size) + page - 1) / page * page; };
  if (whole(bytes) > whole(kept)) munmap(static_cast<char*>(data) + whole(kept), whole(bytes) - whole(kept));
#endif
}

template <class T>
struct PageAllocator {
  using value_type = T;
  PageAllocator() = default;
  template <class U>
  PageAllocator(const PageAllocator<U>&) {}
  T* allocate(std::size_t n) { return static_cast<T*>(take_memory(n * sizeof(T))); }
  void deallocate(T* data, std::size_t n) noexcept { give_memory_back(data, n * sizeof(T)); }
  bool operator==(const PageAllocator&) const { return true; }
};

// A vector that may grow large.
template <class T>
using Array = std::vector<T, PageAllocator<T>>;

// An owned, uninitialised array of fixed size. A vector writes zeros first: a pass over memory that is about to be overwritten.
template <class T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Buffer() = default;
  explicit Buffer(std::size_t size) : data_(static_cast<T*>(take_memory(size * sizeof(T)))), size_(size) {}
  // Pages from the system are zero already.
  static Buffer zeros(std::size_t size) {
    bool cleared;
    Buffer buffer(static_cast<T*>(take_memory(size * sizeof(T), &cleared)), size);
    if (!cleared) std::memset(buffer.data_, 0, size * sizeof(T));
    return buffer;
  }
  Buffer(Buffer&& other) noexcept : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  Buffer& operator=(Buffer&& other) noexcept {
    Buffer moved(std::move(other));
    std::swap(data_, moved.data_);
    std::swap(size_, moved.size_);
    return *this;
  }
  ~Buffer() {
    if (data_ != nullptr) give_memory_back(data_, size_ * sizeof(T));
  }

  // Keeps the first `size` values, and gives the memory of the others back.
  void shrink(std::size_t size) {
    if (size * sizeof(T) >= kLarge) {
      give_tail_back(data_, size_ * sizeof(T), size * sizeof(T));
      size_ = size;
    } else {
      Buffer small(size);
      std::copy(data_, data_ + size, small.data_);
      *this = std::move(small);
    }
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }

 private:
  Buffer(T* data, std::size_t size) : data_(data), size_(size) {}

  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace treille
