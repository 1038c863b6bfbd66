#include "interfaces/c/arguments.hpp"
#include <tesela/algorithms/eigen/tridiagonal_eig.hpp>

#include <cmath>

namespace tesela::c {
namespace {

template <class T>
std::span<const T> span_of(const T* data, index_t n) {
  return {data, static_cast<std::size_t>(n)};
}

}  // namespace

/// Eigenvalues of the symmetric tridiagonal matrix with diagonal d (n) and off-diagonal e (n - 1), LAPACK stev and
/// stevd: d takes them, ascending, and with jobz 'V' z (n x n) the eigenvectors; e is not changed. info > 0: d or e is
/// not finite, or the iteration did not converge; tesela_error() says where.
template <class T>
Code stev(char jobz, index_t n, T* d, const T* e, T* z, index_t ldz) {
  const bool vectors = choice("jobz", jobz, 'V', 'N');
  require_sizes({{"n", n}});
  const index_t off = std::max<index_t>(n - 1, 0);
  const Array<T> diagonal("d", d, n);
  const Array<const T> beside("e", e, off);
  const auto array = Array<T>::if_wanted(vectors, "z", z, {n, n}, "ldz", ldz);
  require_apart({diagonal, array}, {beside});
  const Session session;
  TridiagonalEigResult<T> found;
  if (vectors) {
    const auto X = array.in_tiles(session, {std::max<index_t>(n, 1), 256}, "X");
    found = tridiagonal_eig<T>(session, span_of<T>(d, n), span_of(e, off), X);
  } else {
    found = tridiagonal_eigenvalues<T>(session, span_of<T>(d, n), span_of(e, off));
  }
  if (!found.status.ok()) return failed(1, to_string(found.status));
  std::copy(found.values.begin(), found.values.end(), d);
  return 0;
}

/// How many eigenvalues of that matrix are less than x, by the signs of the pivots of T - x I. It does not fall while x
/// rises. Needs no workers.
template <class T>
Code tridiagonal_count_below(index_t n, const T* d, const T* e, T x, index_t* count) {
  require_sizes({{"n", n}});
  const index_t off = std::max<index_t>(n - 1, 0);
  const Array<const T> diagonal("d", d, n), beside("e", e, off);
  require_finite("d", d, n);
  require_finite("e", e, off);
  if (std::isnan(x)) throw WrongArgument("x", "is NaN");
  require_pointer("count", count);
  *count = tesela::tridiagonal_count_below<T>(span_of(d, n), span_of(e, off), x);
  return 0;
}

}  // namespace tesela::c
