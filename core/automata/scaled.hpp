#pragma once
// Numbers m 2^e, 1/2 <= |m| < 1, with 64 bits for e: products of any length neither overflow nor underflow, and a product, quotient or
// sum has the relative error that it has with doubles. An operation costs a few times what it costs with doubles.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

namespace treille {

class Scaled {
 public:
  constexpr Scaled() = default;
  constexpr Scaled(double value, std::int64_t exponent = 0) {  // value 2^exponent
    if (value == 0) return;
    if (constexpr double least = std::numeric_limits<double>::min(); -least < value && value < least) {
      value *= 0x1p64;
      exponent -= 64;
    }
    const auto bits = std::bit_cast<std::uint64_t>(value);
    mantissa_ = std::bit_cast<double>((bits & 0x800FFFFFFFFFFFFFu) | std::uint64_t{1022} << 52);
    exponent_ = exponent + static_cast<std::int64_t>(bits >> 52 & 0x7FF) - 1022;
  }
  // exp(x), to the last digits for |x| up to 2^50.
  static Scaled exponential(double x) {
    constexpr double kLn2 = 0x1.62e42fefa39efp-1, kRest = 0x1.abc9e3b39803fp-56;  // together ln 2 to 107 bits
    const double k = std::nearbyint(std::clamp(x, -0x1p60, 0x1p60) / kLn2), product = k * kLn2;
    const double rest = (x - product) - std::fma(k, kLn2, -product) - k * kRest;
    return {std::exp(std::clamp(rest, -1.0, 1.0)), static_cast<std::int64_t>(k)};
  }

  double mantissa() const { return mantissa_; }
  std::int64_t exponent() const { return exponent_; }
  // The nearest double: infinite where it is too large, 0 where it is too small.
  double value() const { return std::ldexp(mantissa_, static_cast<int>(std::clamp<std::int64_t>(exponent_, -3000, 3000))); }
  // Returns whether a double is equal to it.
  bool fits() const { return mantissa_ == 0 || (exponent_ > -1100 && exponent_ <= 1024 && Scaled(value()) == *this); }

  friend Scaled operator*(Scaled a, Scaled b) {
    const double product = a.mantissa_ * b.mantissa_;
    if (product == 0) return {};
    if (std::abs(product) < 0.5) return raw(2 * product, a.exponent_ + b.exponent_ - 1);
    return raw(product, a.exponent_ + b.exponent_);
  }
  friend Scaled operator/(Scaled a, Scaled b) {
    if (a.mantissa_ == 0) return {};
    const double quotient = a.mantissa_ / b.mantissa_;
    if (std::abs(quotient) >= 1) return raw(quotient / 2, a.exponent_ - b.exponent_ + 1);
    return raw(quotient, a.exponent_ - b.exponent_);
  }
  friend Scaled operator+(Scaled a, Scaled b) {
    if (a.mantissa_ == 0) return b;
    if (b.mantissa_ == 0) return a;
    const std::int64_t less = a.exponent_ - b.exponent_;
    if (less > 60) return a;
    if (less < -60) return b;
    const double power = std::bit_cast<double>(static_cast<std::uint64_t>(1023 - std::abs(less)) << 52);
    return less >= 0 ? Scaled(a.mantissa_ + b.mantissa_ * power, a.exponent_) : Scaled(a.mantissa_ * power + b.mantissa_, b.exponent_);
  }
  Scaled operator-() const { return raw(-mantissa_, exponent_); }
  friend Scaled operator-(Scaled a, Scaled b) { return a + -b; }
  Scaled& operator+=(Scaled b) { return *this = *this + b; }
  Scaled& operator-=(Scaled b) { return *this = *this - b; }
  Scaled& operator/=(Scaled b) { return *this = *this / b; }
  bool operator==(const Scaled&) const = default;
  friend bool operator<(Scaled a, Scaled b) { return (a - b).mantissa_ < 0; }
  friend bool operator>(Scaled a, Scaled b) { return b < a; }
  friend bool operator>=(Scaled a, Scaled b) { return !(a < b); }

  friend Scaled abs(Scaled a) { return raw(std::abs(a.mantissa_), a.exponent_); }
  friend double log(Scaled a) { return std::log(a.mantissa_) + static_cast<double>(a.exponent_) * 0x1.62e42fefa39efp-1; }

 private:
  static Scaled raw(double mantissa, std::int64_t exponent) {
    Scaled number;
    number.mantissa_ = mantissa;
    number.exponent_ = exponent;
    return number;
  }

  double mantissa_ = 0;
  std::int64_t exponent_ = 0;
};

}  // namespace treille
