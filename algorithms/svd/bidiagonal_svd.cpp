#include <tesela/algorithms/svd/bidiagonal_svd.hpp>
#include <tesela/host/lapack_svd.hpp>
#include <tesela/runtime/require.hpp>

#include <algorithm>
#include <type_traits>

namespace tesela {
namespace {

/// Returns the numbers, or their transpose, in precision T.
template <class T>
HostMatrix<T> converted(const HostMatrix<double>& a, bool transpose) {
  constexpr index_t edge = 32;  // blocks in the cache
  HostMatrix<T> b(a.rows(), a.cols());
  for (index_t left = 0; left < a.cols(); left += edge)
    for (index_t top = 0; top < a.rows(); top += edge)
      for (index_t j = left; j < std::min(left + edge, a.cols()); ++j)
        for (index_t i = top; i < std::min(top + edge, a.rows()); ++i)
          (transpose ? b(j, i) : b(i, j)) = static_cast<T>(a(i, j));
  return b;
}

}  // namespace

template <class T>
BidiagonalSvd<T> bidiagonal_svd(std::span<const T> d, std::span<const T> e, bool vectors) {
  require(e.size() + 1 == std::max<std::size_t>(d.size(), 1), "bidiagonal_svd", "e", e.size(),
          " super-diagonal elements for a diagonal of ", d.size());
  const auto n = static_cast<index_t>(d.size());
  BidiagonalSvd<T> result;
  const auto diagonal = [&] { return std::vector<double>(d.begin(), d.end()); };
  const auto beside = [&] {
    std::vector<double> numbers(e.begin(), e.end());
    numbers.resize(d.size());  // lasq1 uses n numbers
    return numbers;
  };
  std::vector<double> values = diagonal(), rest = beside();
  result.info = lapack::lasq1(n, values.data(), rest.data());
  if (!result.ok()) return result;
  for (const double value : values) result.values.push_back(static_cast<T>(value));
  if (!vectors) return result;
  values = diagonal(), rest = beside();
  HostMatrix<double> u(n, n), vt(n, n);
  result.info = lapack::bdsdc(n, values.data(), rest.data(), u.data(), u.ld(), vt.data(), vt.ld());
  if (!result.ok()) {
    result.values.clear();
    return result;
  }
  result.v.emplace(converted<T>(vt, true));
  if constexpr (std::is_same_v<T, double>)
    result.u.emplace(std::move(u));
  else
    result.u.emplace(converted<T>(u, false));
  return result;
}

template BidiagonalSvd<float> bidiagonal_svd(std::span<const float>, std::span<const float>, bool);
template BidiagonalSvd<double> bidiagonal_svd(std::span<const double>, std::span<const double>, bool);

}  // namespace tesela
