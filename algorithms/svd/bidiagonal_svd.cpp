#include <tesela/algorithms/eigen/bidiagonal/bidiagonal_tree.hpp>
#include <tesela/algorithms/svd/bidiagonal_svd.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/host/lapack/lapack_svd.hpp>
#include <tesela/runtime/require.hpp>

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace tesela {
namespace {

/// Order from which the task graph was faster than bdsdc on the threads of BLAS in all runs.
constexpr index_t graph_from = 1000;

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

/// Returns the numbers in precision T.
template <class T>
HostMatrix<T> in_precision(HostMatrix<double> a) {
  if constexpr (std::is_same_v<T, double>)
    return a;
  else
    return converted<T>(a, false);
}

/// B in double precision.
struct Bidiagonal {
  std::vector<double> d, e;

  template <class T>
  Bidiagonal(std::span<const T> diagonal, std::span<const T> above)
      : d(diagonal.begin(), diagonal.end()), e(above.begin(), above.end()) {
    require(e.size() + 1 == std::max<std::size_t>(d.size(), 1), "bidiagonal_svd", "e", e.size(),
            " super-diagonal elements for a diagonal of ", d.size());
  }
  index_t n() const { return static_cast<index_t>(d.size()); }
  bool finite() const {
    const auto all = [](const std::vector<double>& x) {
      return std::all_of(x.begin(), x.end(), [](double number) { return std::isfinite(number); });
    };
    return all(d) && all(e);
  }
};

/// Returns the values.
template <class T>
BidiagonalSvd<T> values_of(Bidiagonal b) {
  BidiagonalSvd<T> result;
  b.e.resize(b.d.size());  // lasq1 uses n numbers
  result.info = lapack::lasq1(b.n(), b.d.data(), b.e.data());
  if (result.ok()) result.values.assign(b.d.begin(), b.d.end());
  return result;
}

/// Returns the values, and the vectors by bdsdc.
template <class T>
BidiagonalSvd<T> by_lapack(Bidiagonal b) {
  BidiagonalSvd<T> result = values_of<T>(b);
  if (!result.ok()) return result;
  const index_t n = b.n();
  HostMatrix<double> u(n, n), vt(n, n);
  b.e.resize(b.d.size());
  result.info = lapack::bdsdc(n, b.d.data(), b.e.data(), u.data(), u.ld(), vt.data(), vt.ld());
  if (!result.ok()) {
    result.values.clear();
    return result;
  }
  result.v.emplace(converted<T>(vt, true));
  result.u.emplace(in_precision<T>(std::move(u)));
  return result;
}

/// Returns values and vectors by a task graph.
template <class T>
BidiagonalSvd<T> by_graph(Runtime& runtime, const Bidiagonal& b) {
  const index_t n = b.n();
  const TileShape tile{512, 256};
  HostMatrix<double> u(n, n), v(n, n);
  BidiagonalSvd<T> result;
  {
    const auto U = TileMatrix<double>::map(runtime, u.data(), n, n, n, tile, "U"),
               V = TileMatrix<double>::map(runtime, v.data(), n, n, n, tile, "V");
    const detail::BidiagonalTriples found = detail::bidiagonal_tree(runtime, b.d, b.e, U, V);
    result.info = found.info;
    result.values.assign(found.values.begin(), found.values.end());
  }
  if (!result.ok()) return result;
  result.u.emplace(in_precision<T>(std::move(u)));
  result.v.emplace(in_precision<T>(std::move(v)));
  return result;
}

}  // namespace

template <class T>
BidiagonalSvd<T> bidiagonal_svd(std::span<const T> d, std::span<const T> e, bool vectors) {
  const Bidiagonal b(d, e);
  return vectors ? by_lapack<T>(b) : values_of<T>(b);
}

template <class T>
BidiagonalSvd<T> bidiagonal_svd(Runtime& runtime, std::span<const T> d, std::span<const T> e, bool vectors) {
  const Bidiagonal b(d, e);
  if (!vectors) return values_of<T>(b);
  if (b.n() >= graph_from && runtime.cpus() > 0 && runtime.ranks() == 1 && b.finite()) return by_graph<T>(runtime, b);
  const blas::Threads threads(blas::threads_for(b.n(), std::max(runtime.cpus(), 1)));
  return by_lapack<T>(b);
}

#define TESELA_INSTANTIATE(T)                                                             \
  template BidiagonalSvd<T> bidiagonal_svd(std::span<const T>, std::span<const T>, bool); \
  template BidiagonalSvd<T> bidiagonal_svd(Runtime&, std::span<const T>, std::span<const T>, bool);
TESELA_FOR_REALS(TESELA_INSTANTIATE)

}  // namespace tesela
