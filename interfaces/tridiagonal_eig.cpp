#include "interfaces/c/spectrum_part.hpp"
#include <tesela/algorithms/eigen/tridiagonal_eig.hpp>

#include <algorithm>
#include <cmath>

namespace tesela::c {
namespace {

template <class T>
std::span<const T> span_of(const T* data, index_t n) {
  return {data, static_cast<std::size_t>(n)};
}

}  // namespace

/// Computes all eigenvalues of the symmetric tridiagonal matrix with diagonal d (n) and off-diagonal e (n - 1) (LAPACK
/// stev and stevd).
///
/// d        overwritten with the eigenvalues, ascending; e is not changed.
/// jobz     'V' stores the eigenvectors in z (n x n).
/// info     > 0: d or e is not finite, or the iteration did not converge; tesela_error() states the place.
template <class T>
Code stev(char jobz, index_t n, T* d, const T* e, T* z, index_t ldz) {
  const bool vectors = choice("jobz", jobz, 'V', 'N');
  require_sizes({{"n", n}});
  const index_t off = std::max<index_t>(n - 1, 0);
  const Array<T> diagonal("d", d, n);
  const Array<const T> beside("e", e, off);
  const auto array = Array<T>::if_wanted(vectors, "z", z, {n, n}, "ldz", ldz);
  require_no_overlap({diagonal, array}, {beside});
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

/// Computes a part of the eigenvalues of that matrix; a small part without n x n numbers (LAPACK stevr and stevx).
///
/// range    'A' all, 'V' in [vl, vu), 'I' the il-th … iu-th.
/// m, w, z  number of eigenvalues; the eigenvalues, in an array of n; with jobz 'V' the eigenvectors, n x m.
/// d, e     not changed.
/// info     as in stev.
template <class T>
Code stevr(char jobz, char range, index_t n, const T* d, const T* e, T vl, T vu, index_t il, index_t iu, index_t* m,
           T* w, T* z, index_t ldz) {
  const bool vectors = choice("jobz", jobz, 'V', 'N');
  require_sizes({{"n", n}});
  const SpectrumPart part(range, n, vl, vu, il, iu);
  const index_t off = std::max<index_t>(n - 1, 0);
  const Array<const T> diagonal("d", d, n), beside("e", e, off);
  require_pointer("m", m);
  const Array<T> values("w", w, part.most);
  const auto array = Array<T>::if_wanted(vectors, "z", z, {n, part.most}, "ldz", ldz);
  require_no_overlap({values, array}, {diagonal, beside});
  const auto band_d = span_of(d, n), band_e = span_of(e, off);
  const TridiagonalEigOptions options{.range = part.positions, .low = part.low, .high = part.high};
  const Session session;
  TridiagonalEigResult<T> found;
  if (vectors) {
    const index_t found_values = tridiagonal_positions<T>(band_d, band_e, options).size();
    const Array<T> pairs("z", z, {n, found_values}, "ldz", ldz);
    found = tridiagonal_eig<T>(session, band_d, band_e, pairs.in_tiles(session, {std::max<index_t>(n, 1), 256}, "X"),
                               options);
  } else {
    found = tridiagonal_eigenvalues<T>(session, band_d, band_e, options);
  }
  *m = static_cast<index_t>(found.values.size());
  if (!found.status.ok()) return failed(1, to_string(found.status));
  std::copy(found.values.begin(), found.values.end(), w);
  return 0;
}

/// Counts the eigenvalues of that matrix below x, by the signs of the pivots of T - x I. The count never decreases with
/// x. Needs no workers.
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

#ifdef TESELA_PYTHON
#include "interfaces/python/results.hpp"
#include "interfaces/python/subsets.hpp"

namespace tesela::python {
namespace {

template <class T>
struct Found {
  TridiagonalEigResult<T> eig;
  HostMatrix<T> vectors;
};

template <class T>
std::span<const T> span_of(const Columns<T>& columns) {
  return {columns.data, static_cast<std::size_t>(columns.rows)};
}

AnyArray eigh_tridiagonal(const ArrayLike& d_given, const ArrayLike& e_given, Flag eigvals_only,
                          const std::string& select, const ByValue& select_range) {
  const Argument d("d", d_given), e("e", e_given);
  d.require_vector();
  const index_t n = d.rows();
  e.require_vector_of(std::max<index_t>(n - 1, 0));
  const Values values = select == "v" ? values_of(select_range, "select_range") : Values{};
  const TridiagonalEigOptions options{
      .range = selected_positions(select, select_range, n), .low = values.low, .high = values.high};
  return in_precision({&d, &e}, [&]<class T>(T) -> AnyArray {
    const auto columns_d = finite_on_host<T>("eigh_tridiagonal", d),
               columns_e = finite_on_host<T>("eigh_tridiagonal", e);
    Found<T> found = with_workers([&](const c::Session& session) {
      const auto diagonal = span_of(columns_d), beside = span_of(columns_e);
      if (eigvals_only) return Found<T>{tridiagonal_eigenvalues<T>(session, diagonal, beside, options), {}};
      Found<T> pairs{{}, HostMatrix<T>(n, tridiagonal_positions<T>(diagonal, beside, options).size())};
      const auto X = TileMatrix<T>::map(session, pairs.vectors.data(), n, pairs.vectors.cols(), pairs.vectors.ld(),
                                        {std::max<index_t>(n, 1), 256}, "X");
      pairs.eig = tridiagonal_eig<T>(session, diagonal, beside, X, options);
      X.bring_home();
      return pairs;
    });
    const std::string status = to_string(found.eig.status);
    if (!found.eig.status.ok()) raise_lin_alg_error("eigh_tridiagonal: " + status, status, nb::none());
    const nb::object w = to_python(std::move(found.eig.values), d.place());
    if (eigvals_only) return w;
    return nb::cast(EighResult{w, to_python(std::move(found.vectors), d.place())});
  });
}

const Part part([](nb::module_& m) {
  m.def("eigh_tridiagonal", eigh_tridiagonal, "d"_a, "e"_a, "eigvals_only"_a = false, "select"_a = "a",
        "select_range"_a = nb::none(),
        R"(Compute eigenvalues of a symmetric tridiagonal matrix, ascending, and eigenvectors.

Parameters
----------
d : (n,) array
    The diagonal.
e : (n - 1,) array
    The off-diagonal.
eigvals_only : bool
    Return w alone.
select : {'a', 'v', 'i'}
    All; in (low, high] of `select_range`; or from its first to its second index.
select_range : (low, high), optional

Returns
-------
EighResult
    eigenvalues w and eigenvectors v, which can be unpacked; or w alone.

Examples
--------
>>> import numpy as np, tesela
>>> np.round(tesela.eigh_tridiagonal(np.array([2., 2.]), np.array([1.]), eigvals_only=True), 12)
array([1., 3.])
)");
});

}  // namespace
}  // namespace tesela::python
#endif
