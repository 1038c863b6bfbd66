#pragma once

#include "tests/support/variable.hpp"
#include <tesela/runtime/runtime.hpp>
#include <tesela/tiles/generator.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <catch2/catch_test_macros.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <tesela.h>
#include <type_traits>
#include <vector>

namespace tesela::test {

/// Returns the C function for T.
template <class T, class S, class D>
auto of(S single, D other) {
  if constexpr (std::is_same_v<T, float>)
    return single;
  else
    return other;
}

/// Column-major memory with padding between the columns, which must not change.
template <class T>
struct Padded {
  index_t m, n, ld;
  std::vector<T> memory;
  static constexpr T guard = T(-12345);

  Padded(index_t rows, index_t columns, index_t room = 3)
      : m(rows),
        n(columns),
        ld(std::max<index_t>(rows, 1) + room),
        memory(static_cast<std::size_t>(ld * std::max<index_t>(n, 1)), guard) {}
  static Padded random(index_t rows, index_t columns, std::uint64_t seed, index_t room = 3) {
    Padded a(rows, columns, room);
    const Generator<T> element{Pattern::uniform, 0, columns, seed};
    for (index_t j = 0; j < a.n; ++j)
      for (index_t i = 0; i < a.m; ++i) a(i, j) = element(i, j);
    return a;
  }
  static Padded symmetric(index_t n, std::uint64_t seed, double diagonal = 0) {
    Padded a = random(n, n, seed);
    for (index_t j = 0; j < n; ++j)
      for (index_t i = 0; i < j; ++i) a(i, j) = a(j, i);
    for (index_t j = 0; j < n; ++j) a(j, j) += static_cast<T>(diagonal);
    return a;
  }
  T* data() { return memory.data(); }
  const T* data() const { return memory.data(); }
  T& operator()(index_t i, index_t j) { return memory[static_cast<std::size_t>(i + j * ld)]; }
  const T& operator()(index_t i, index_t j) const { return memory[static_cast<std::size_t>(i + j * ld)]; }
  bool intact() const {
    for (index_t j = 0; j < n; ++j)
      for (index_t i = m; i < ld; ++i)
        if ((*this)(i, j) != guard) return false;
    return true;
  }
};

template <class T>
bool same_bits(const Padded<T>& a, const Padded<T>& b) {
  return a.memory.size() == b.memory.size() && std::memcmp(a.data(), b.data(), a.memory.size() * sizeof(T)) == 0;
}

/// Returns ||op(A) B - C||_F in double.
template <class T>
double product_error(const Padded<T>& a, bool transpose, const Padded<T>& b, const Padded<T>& c, index_t rows,
                     index_t inner) {
  double sum = 0;
  for (index_t j = 0; j < b.n; ++j)
    for (index_t i = 0; i < rows; ++i) {
      double x = -static_cast<double>(c(i, j));
      for (index_t k = 0; k < inner; ++k)
        x += static_cast<double>(transpose ? a(k, i) : a(i, k)) * static_cast<double>(b(k, j));
      sum = std::hypot(sum, x);
    }
  return sum;
}

template <class T>
double eps() {
  return static_cast<double>(std::numeric_limits<T>::epsilon());
}

/// Requires that the call returns 0 and shows its message otherwise.
#define CHECK_OK(call)                     \
  do {                                     \
    const auto info_ = (call);             \
    INFO(#call << ": " << tesela_error()); \
    CHECK(info_ == 0);                     \
  } while (false)

/// While it lives, C functions compute on cores only, see CoresOnly.
class COnCores {
 public:
  COnCores() { CHECK_OK(tesela_stop()); }
  ~COnCores() { CHECK_OK(tesela_stop()); }
  COnCores(const COnCores&) = delete;
  COnCores& operator=(const COnCores&) = delete;

 private:
  CoresOnly cores_;
};

}  // namespace tesela::test
