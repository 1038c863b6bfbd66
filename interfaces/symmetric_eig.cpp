#include "interfaces/c/spectrum_part.hpp"
#include <tesela/algorithms/eigen/generalized_eig.hpp>
#include <tesela/algorithms/eigen/symmetric_eig.hpp>

namespace tesela::c {
namespace {

/// Copies the results. `vectors` may be the memory of A, whose tiles no longer exist.
template <class T>
Code finish(const SymmetricEig<T>& found, real_t<T>* w, const Array<T>* vectors) {
  if (!found.status.ok()) return failed(1, to_string(found.status));
  std::transform(found.values.begin(), found.values.end(), w,
                 [](double value) { return static_cast<real_t<T>>(value); });
  if (vectors != nullptr && found.vectors) found.vectors->copy_to(vectors->data, vectors->ld);
  return 0;
}

}  // namespace

/// Computes all eigenvalues of a symmetric or Hermitian matrix, ascending, into w (LAPACK syev and syevd, heev).
///
/// jobz     'V' overwrites A with the eigenvectors as columns; with 'N' the contents of A are undefined.
/// uplo     'L' only: the lower triangle is read. A complex diagonal must be real.
/// info     > 0: A is not finite, or the iteration did not converge; tesela_error() states the place.
template <Number T>
Code syev(char jobz, char uplo, index_t n, T* a, index_t lda, real_t<T>* w) {
  const bool vectors = choice("jobz", jobz, 'V', 'N');
  require_triangle("uplo", uplo, 'L');
  require_sizes({{"n", n}});
  const Array<T> array("a", a, {n, n}, "lda", lda);
  const Array<real_t<T>> values("w", w, n);
  require_no_overlap({array, values});
  const Session session;
  return finish<T>(symmetric_eig<T>(session, array, {.vectors = vectors}), w, &array);
}

/// Computes a part of the eigenvalues (LAPACK syevr, heevr).
///
/// range    'A' all, 'V' in [vl, vu), 'I' the il-th … iu-th.
/// m, w, z  number of eigenvalues; the eigenvalues, in an array of n; with jobz 'V' the eigenvectors, n x m.
/// A        overwritten.
template <Number T>
Code syevr(char jobz, char range, char uplo, index_t n, T* a, index_t lda, real_t<T> vl, real_t<T> vu, index_t il,
           index_t iu, index_t* m, real_t<T>* w, T* z, index_t ldz) {
  SymmetricEigOptions options;
  options.vectors = choice("jobz", jobz, 'V', 'N');
  require_triangle("uplo", uplo, 'L');
  require_sizes({{"n", n}});
  const Array<T> array("a", a, {n, n}, "lda", lda);
  const SpectrumPart part(range, n, vl, vu, il, iu);
  options.positions = part.positions;
  options.low = part.low;
  options.high = part.high;
  require_pointer("m", m);
  const Array<real_t<T>> values("w", w, part.most);
  const auto vectors = Array<T>::if_wanted(options.vectors, "z", z, {n, part.most}, "ldz", ldz);
  require_no_overlap({array, values, vectors});
  const Session session;
  const SymmetricEig<T> found = symmetric_eig<T>(session, array, options);
  *m = static_cast<index_t>(found.values.size());
  return finish<T>(found, w, options.vectors ? &vectors : nullptr);
}

/// Solves a generalized eigenproblem with B positive definite (LAPACK sygv and sygvd, hegv and hegvd).
///
/// itype    1: A x = lambda B x; 2: A B x = lambda x; 3: B A x = lambda x.
/// A, B     the lower triangles are read; both are overwritten, with jobz 'V' A by the eigenvectors. Complex diagonals
///          must be real.
/// w        the eigenvalues.
/// info     > 0: A or B is not finite, or B not positive definite; tesela_error() states the place.
template <Number T>
Code sygv(int64_t itype, char jobz, char uplo, index_t n, T* a, index_t lda, T* b, index_t ldb, real_t<T>* w) {
  if (itype < 1 || itype > 3) throw WrongArgument("itype", std::to_string(itype) + " is not 1, 2 or 3");
  GeneralizedEigOptions options;
  options.kind = static_cast<GeneralizedKind>(itype - 1);
  options.eig.vectors = choice("jobz", jobz, 'V', 'N');
  require_triangle("uplo", uplo, 'L');
  require_sizes({{"n", n}});
  const Array<T> array_a("a", a, {n, n}, "lda", lda), array_b("b", b, {n, n}, "ldb", ldb);
  const Array<real_t<T>> values("w", w, n);
  require_no_overlap({array_a, array_b, values});
  const Session session;
  return finish<T>(generalized_eig<T>(session, array_a, array_b, options), w, &array_a);
}

}  // namespace tesela::c

#ifdef TESELA_PYTHON
#include "interfaces/python/results.hpp"
#include "interfaces/python/subsets.hpp"

namespace tesela::python {
namespace {

template <class T>
struct Pairs {
  SymmetricEigStatus status;
  std::vector<real_t<T>> values;
  std::optional<NewMatrix<T>> vectors;
};

/// Copies the results to new memory; `transposed`: of A^T, whose complex vectors are the conjugates of A's.
template <class T>
Pairs<T> pairs_of(const c::Session& session, const SymmetricEig<T>& found, const Place& place, bool transposed) {
  Pairs<T> pairs{found.status, {}, std::nullopt};
  for (const double value : found.values) pairs.values.push_back(static_cast<real_t<T>>(value));
  if (found.status.ok() && found.vectors) {
    const TileMatrix<T>& X = *found.vectors;
    if (is_complex<T> && transposed) {
      HostMatrix<T> x = X.to_host();
      std::transform(x.data(), x.data() + x.size(), x.data(), [](T value) { return conj(value); });
      pairs.vectors.emplace(std::move(x), place);
      return pairs;
    }
    pairs.vectors.emplace(copied_to(session, X, place));
  }
  return pairs;
}

/// Returns the message for a failure, with NumPy's indices. `lower`: the lower triangle was read, otherwise A^T's.
std::string words(const SymmetricEigStatus& status, bool lower) {
  const auto at = [&](const char* name) {
    return "not finite: " + element(name, lower ? status.row : status.column, lower ? status.column : status.row);
  };
  if (status.verdict == SymmetricEigStatus::Verdict::not_finite) return at("a");
  if (status.verdict == SymmetricEigStatus::Verdict::b_not_finite) return at("b");
  if (status.verdict == SymmetricEigStatus::Verdict::reduced_overflow)
    return "overflow: an element of the problem reduced to one matrix is larger than the largest number";
  if (status.verdict == SymmetricEigStatus::Verdict::b_not_positive_definite)
    return "b is not positive definite: its leading minor of order " + std::to_string(status.row);
  return to_string(status);
}

AnyArray eigh(const ArrayLike& a_given, const ArrayLike& b_given, Flag lower, Flag eigvals_only, int type,
              const ByIndex& by_index, const ByValue& by_value, Flag overwrite_a, Flag overwrite_b) {
  const auto read = [&](const char* name, nb::handle given) {
    const Argument argument(name, given, Numbers::complex_too);
    argument.require_square();
    return lower ? argument : argument.transposed();  // the lower triangle is read
  };
  const Argument a = read("a", a_given);
  std::optional<Argument> b;
  if (!b_given.is_none()) {
    b.emplace(read("b", b_given));
    b->require_rows(a.rows());
  }
  if (type < 1 || type > 3) throw nb::value_error("type must be 1, 2 or 3");
  require_one_subset(by_index, by_value);
  const Values values = values_of(by_value);
  GeneralizedEigOptions options;
  options.kind = static_cast<GeneralizedKind>(type - 1);
  options.eig.vectors = !eigvals_only;
  options.eig.positions = positions_of(by_index, a.rows());
  options.eig.low = values.low;
  options.eig.high = values.high;
  return in_number_type({&a, b ? &*b : &a}, [&]<class T>(T) -> AnyArray {
    Pairs<T> pairs = with_workers([&](const c::Session& session) {
      const auto columns_a = Columns<T>::overwriting(session, a, overwrite_a && (!b || a.apart({&*b})));
      if (b) {
        const auto columns_b = Columns<T>::overwriting(session, *b, overwrite_b);
        return pairs_of<T>(session, generalized_eig<T>(session, columns_a, columns_b, options), a.place(), !lower);
      }
      return pairs_of<T>(session, symmetric_eig<T>(session, columns_a, options.eig), a.place(), !lower);
    });
    if (!pairs.status.ok())
      raise_lin_alg_error("eigh: " + words(pairs.status, lower), words(pairs.status, lower), nb::none());
    const nb::object w = to_python(pairs.values, a.place());
    if (eigvals_only) return w;
    return nb::cast(EighResult{w, std::move(*pairs.vectors).to_python()});
  });
}

const Part part([](nb::module_& m) {
  m.def("eigh", eigh, "a"_a, "b"_a = nb::none(), nb::kw_only(), "lower"_a = true, "eigvals_only"_a = false,
        "type"_a = 1, "subset_by_index"_a = nb::none(), "subset_by_value"_a = nb::none(), "overwrite_a"_a = false,
        "overwrite_b"_a = false,
        R"(Compute eigenvalues of a symmetric or Hermitian matrix, or of a pair, ascending, and eigenvectors.

Parameters
----------
a : (n, n) array
    Symmetric or Hermitian; only one triangle is read. A complex diagonal must be real.
b : (n, n) array, optional
    Symmetric or Hermitian positive definite: a x = w b x (type 1), a b x = w x (2) or b a x = w x (3).
lower : bool
    Whether the lower triangle is read, or the upper.
eigvals_only : bool
    Return w alone.
subset_by_index : (int, int), optional
    First and last wanted index, counted from 0.
subset_by_value : (float, float), optional
    Wanted eigenvalues are in (low, high].
overwrite_a, overwrite_b : bool
    Whether the function may overwrite the array, which saves a copy if it is in Fortran order.

Returns
-------
EighResult
    eigenvalues w and eigenvectors v, which can be unpacked; or w alone.

Raises
------
numpy.linalg.LinAlgError
    If a or b is not finite, if b is not positive definite, if an eigenvalue overflows, or if the iteration did not
    converge.

Examples
--------
>>> import numpy as np, tesela
>>> w, v = tesela.eigh(np.array([[2., 1.], [1., 2.]]))
>>> np.round(w, 12)
array([1., 3.])
)");
});

}  // namespace
}  // namespace tesela::python
#endif
