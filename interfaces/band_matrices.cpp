#include "interfaces/c/arguments.hpp"
#include <tesela/algorithms/dense/band_solve.hpp>
#include <tesela/algorithms/eigen/band_eig.hpp>

#ifdef TESELA_PYTHON
#include "interfaces/python/results.hpp"
#include "interfaces/python/subsets.hpp"

namespace tesela::python {
namespace {

/// Returns x, the status's number in DirectStatus, the place from 0, the condition, and its description.
template <class T>
nb::tuple outcome(const Argument& b, HostMatrix<T> x, const DirectSolve& solved) {
  return nb::make_tuple(to_python_like(b, std::move(x)), static_cast<int>(solved.status), solved.place - 1,
                        description(solved));
}

/// Solves a system with ab as band_solve reads it.
nb::tuple solve_band(index_t kl, index_t ku, const ArrayLike& ab_given, const ArrayLike& b_given) {
  const Argument ab("ab", ab_given, Numbers::complex_too), b("b", b_given, Numbers::complex_too);
  return in_number_type({&ab, &b}, [&]<class T>(T) {
    HostMatrix<T> band = Columns<T>::on_host(ab).copy(), x = Columns<T>::on_host(b).copy();
    const DirectSolve solved = [&] {
      const Released free;
      return band_solve(kl, ku, band, x);
    }();
    return outcome(b, std::move(x), solved);
  });
}

/// Solves a symmetric or Hermitian positive definite system; ab is the upper form.
nb::tuple solve_positive_band(const ArrayLike& ab_given, const ArrayLike& b_given) {
  const Argument ab("ab", ab_given, Numbers::complex_too), b("b", b_given, Numbers::complex_too);
  return in_number_type({&ab, &b}, [&]<class T>(T) {
    HostMatrix<T> band = Columns<T>::on_host(ab).copy(), x = Columns<T>::on_host(b).copy();
    const DirectSolve solved = [&] {
      const Released free;
      return band_cholesky_solve(band, x);
    }();
    return outcome(b, std::move(x), solved);
  });
}

/// Returns the factor in upper form, and the first leading minor that is not positive, or 0.
nb::tuple factor_band(const ArrayLike& ab_given) {
  const Argument ab("ab", ab_given, Numbers::complex_too);
  return in_number_type({&ab}, [&]<class T>(T) {
    HostMatrix<T> band = Columns<T>::on_host(ab).copy();
    const index_t minor = [&] {
      const Released free;
      return band_cholesky(band);
    }();
    return nb::make_tuple(to_python(std::move(band), ab.place()), minor);
  });
}

/// Solves with the factor of factor_band.
nb::object solve_factored_band(const ArrayLike& ab_given, const ArrayLike& b_given) {
  const Argument ab("cb", ab_given, Numbers::complex_too), b("b", b_given, Numbers::complex_too);
  b.require_rows(ab.cols());
  return in_number_type({&ab, &b}, [&]<class T>(T) {
    const HostMatrix<T> band = Columns<T>::on_host(ab).copy();
    HostMatrix<T> x = Columns<T>::on_host(b).copy();
    {
      const Released free;
      band_cholesky_apply(band, x);
    }
    return to_python_like(b, std::move(x));
  });
}

/// Returns eigenvalues, and eigenvectors or None, of a band in lower form.
nb::tuple eig_band(const ArrayLike& ab_given, Flag vectors, const std::string& select, const ByValue& select_range) {
  const Argument ab("a_band", ab_given, Numbers::complex_too);
  const Values values = select == "v" ? values_of(select_range, "select_range") : Values();
  const BandEigOptions options{vectors, selected_positions(select, select_range, ab.cols()), values.low, values.high};
  return in_number_type({&ab}, [&]<class T>(T) {
    const HostMatrix<T> band = Columns<T>::on_host(ab).copy();
    BandEigResult<T> found =
        with_workers([&](const c::Session& session) { return band_eig<T>(session, band, options); });
    if (found.status.verdict == TridiagonalEigStatus::Verdict::not_finite)
      raise_lin_alg_error("eig_banded: " + column("a_band", found.status.where) + " is not finite", "not finite",
                          nb::none());
    const std::string status = to_string(found.status);
    if (!found.status.ok()) raise_lin_alg_error("eig_banded: " + status, status, nb::none());
    const nb::object w = to_python(std::move(found.values), ab.place());
    if (!vectors) return nb::make_tuple(w, nb::none());
    return nb::make_tuple(w, to_python(std::move(found.vectors), ab.place()));
  });
}

const Part part([](nb::module_& m) {
  m.def("_solve_band", solve_band, "kl"_a, "ku"_a, "ab"_a, "b"_a);
  m.def("_solve_positive_band", solve_positive_band, "ab"_a, "b"_a);
  m.def("_factor_band", factor_band, "ab"_a);
  m.def("_solve_factored_band", solve_factored_band, "cb"_a, "b"_a);
  m.def("_eig_band", eig_band, "a_band"_a, "vectors"_a, "select"_a, "select_range"_a);
});

}  // namespace
}  // namespace tesela::python
#endif
