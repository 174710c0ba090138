#pragma once
// An owned, uninitialised array. std::vector writes zeros first, which costs a pass over memory
// that is about to be overwritten; and it cannot give back its unused tail without a copy.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <type_traits>
#include <utility>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace treille {

// Asks for huge pages where the array is large: with 4 KiB pages, every scattered read of it would also miss the TLB. A hint.
inline void advise_huge_pages([[maybe_unused]] void* data, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__) && defined(MADV_HUGEPAGE)
  constexpr std::size_t kPage = std::size_t{1} << 21;
  const auto first = (reinterpret_cast<std::uintptr_t>(data) + kPage - 1) & ~(kPage - 1);
  const auto last = (reinterpret_cast<std::uintptr_t>(data) + bytes) & ~(kPage - 1);
  if (last > first) madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
#endif
}

template <class T>
class Buffer {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Buffer() = default;
  explicit Buffer(std::size_t size) : data_(static_cast<T*>(std::malloc(size * sizeof(T) + 1))), size_(size) {
    if (data_ == nullptr) throw std::bad_alloc();
    advise_huge_pages(data_, size * sizeof(T));
  }
  Buffer(Buffer&& other) noexcept { *this = std::move(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }
  ~Buffer() { std::free(data_); }

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return size_; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }

  // Keeps what both sizes share. Large blocks grow and shrink by moving pages, not bytes.
  void resize(std::size_t size) {
    void* moved = std::realloc(data_, size * sizeof(T) + 1);
    if (moved == nullptr) throw std::bad_alloc();
    data_ = static_cast<T*>(moved);
    advise_huge_pages(data_, size * sizeof(T));
    size_ = size;
  }

  // Hands the memory to the caller, who frees it with std::free.
  T* release() {
    size_ = 0;
    return std::exchange(data_, nullptr);
  }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace treille
