#include <algorithm>

#include "features/pairwise.hpp"
#include "text/pattern_gram.hpp"

namespace treille {
namespace {

class DegreeKernel {
 public:
  // ending_[r]: the value of the n-grams that end at a position if the last r symbols agree, r <= d.
  DegreeKernel(int d, int shift) : d_(static_cast<std::size_t>(d)), shift_(static_cast<std::size_t>(shift)), ending_(d_ + 1, 0.0) {
    for (std::size_t n = 1; n <= d_; ++n)
      ending_[n] = ending_[n - 1] + 2.0 * static_cast<double>(d_ - n + 1) / (static_cast<double>(d_) * static_cast<double>(d_ + 1));
  }

  double operator()(Symbols x, Symbols y) const {
    double sum = at(x, y);
    for (std::size_t s = 1; s <= shift_ && s < std::max(x.size(), y.size()); ++s)
      sum += (at(x.subspan(std::min(s, x.size())), y) + at(x, y.subspan(std::min(s, y.size())))) / (2.0 * static_cast<double>(s + 1));
    return sum;
  }

 private:
  double at(Symbols x, Symbols y) const {
    double sum = 0;
    std::size_t agreeing = 0;
    for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
      agreeing = x[i] == y[i] ? std::min(agreeing + 1, d_) : 0;
      sum += ending_[agreeing];
    }
    return sum;
  }

  std::size_t d_, shift_;
  std::vector<double> ending_;
};

// A batch with its symbols recoded.
struct Read {
  explicit Read(const Recoded& batch) : offsets(batch.data.offsets), symbols(batch.data.symbols.size()) {
    std::transform(batch.data.symbols.begin(), batch.data.symbols.end(), symbols.begin(),
                   [&](std::int32_t s) { return batch.recode[static_cast<std::size_t>(s)]; });
  }
  Symbols operator[](std::size_t i) const { return Sequences{symbols, offsets}[i]; }
  std::span<const std::int64_t> offsets;
  std::vector<std::int32_t> symbols;
};

}  // namespace

Buffer<double> weighted_degree_gram(int d, int shift, const Recoded& left, const std::optional<Recoded>& right, int threads) {
  const DegreeKernel kernel(d, shift);
  const Read x(left), y(right ? *right : left);
  return pairwise(left.data.size(), right ? right->data.size() : left.data.size(), !right, threads,
                  [&] { return [&](std::size_t i, std::size_t j) { return kernel(x[i], y[j]); }; });
}

std::vector<double> weighted_degree_diagonal(int d, int shift, const Recoded& batch, int threads) {
  const DegreeKernel kernel(d, shift);
  const Read x(batch);
  return on_diagonal(batch.data.size(), threads, [&] { return [&](std::size_t i) { return kernel(x[i], x[i]); }; });
}

}  // namespace treille
