#include <tesela/algorithms/svd/bidiagonal_svd.hpp>
#include <tesela/host/lapack_svd.hpp>
#include <tesela/runtime/require.hpp>

#include <algorithm>

namespace tesela {
namespace {

/// Returns the transpose of a square matrix.
template <class T>
HostMatrix<T> transposed(const HostMatrix<T>& a) {
  constexpr index_t edge = 32;  // blocks in the cache
  HostMatrix<T> b(a.cols(), a.rows());
  for (index_t left = 0; left < a.cols(); left += edge)
    for (index_t top = 0; top < a.rows(); top += edge)
      for (index_t j = left; j < std::min(left + edge, a.cols()); ++j)
        for (index_t i = top; i < std::min(top + edge, a.rows()); ++i) b(j, i) = a(i, j);
  return b;
}

}  // namespace

template <class T>
BidiagonalSvd<T> bidiagonal_svd(std::span<const T> d, std::span<const T> e, bool vectors) {
  require(e.size() + 1 == std::max<std::size_t>(d.size(), 1), "bidiagonal_svd", "e", e.size(),
          " super-diagonal elements for a diagonal of ", d.size());
  const auto n = static_cast<index_t>(d.size());
  BidiagonalSvd<T> result;
  std::vector<T> beside(e.begin(), e.end());
  beside.resize(d.size());  // lasq1 uses n numbers
  result.values.assign(d.begin(), d.end());
  result.info = lapack::lasq1(n, result.values.data(), beside.data());
  if (result.ok() && vectors) {
    std::vector<T> values(d.begin(), d.end());
    beside.assign(e.begin(), e.end());
    beside.resize(d.size());
    HostMatrix<T> u(n, n), vt(n, n);
    result.info = lapack::bdsdc(n, values.data(), beside.data(), u.data(), u.ld(), vt.data(), vt.ld());
    result.v.emplace(transposed(vt));
    result.u.emplace(std::move(u));
  }
  if (!result.ok()) result.values.clear();
  return result;
}

template BidiagonalSvd<float> bidiagonal_svd(std::span<const float>, std::span<const float>, bool);
template BidiagonalSvd<double> bidiagonal_svd(std::span<const double>, std::span<const double>, bool);

}  // namespace tesela
