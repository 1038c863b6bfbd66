#include "interfaces/c/arguments.hpp"
#include <tesela/algorithms/toeplitz/hermitian_toeplitz_eig.hpp>
#include <tesela/algorithms/toeplitz/toeplitz_inertia.hpp>
#include <tesela/algorithms/toeplitz/toeplitz_spectrum.hpp>

namespace tesela::c {
namespace {

/// Computes the spectrum of a Hermitian matrix into w and z.
template <class T>
Code hermitian_eig(const Session& session, std::span<const T> t, bool vectors, real_t<T>* w, const Array<T>& z) {
  if (t[0].imag() != 0) throw WrongArgument("t", "element 0 has an imaginary part");
  SymmetricEigOptions options;
  options.vectors = vectors;
  const HermitianToeplitzEig<T> found = hermitian_toeplitz_eig<T>(session.runtime(), t, options);
  if (!found.status.ok()) return failed(TESELA_INACCURATE, to_string(found.status));
  std::transform(found.values.begin(), found.values.end(), w,
                 [](double value) { return static_cast<real_t<T>>(value); });
  if (vectors) z.take(found.vectors);
  return 0;
}

}  // namespace

/// Computes all eigenvalues of the symmetric Toeplitz matrix with first column t (n numbers), ascending, into w (n
/// numbers); for complex numbers conj(t) is the first row, and t(0) is real.
///
/// jobz     'V' stores the eigenvectors in z (n x n) as columns.
/// info     > 0: fewer eigenvalues were found than counted, or they are inaccurate; w and z are then invalid.
template <Number T>
Code toeplitz_eig(char jobz, index_t n, const T* t, real_t<T>* w, T* z, index_t ldz) {
  const bool vectors = choice("jobz", jobz, 'V', 'N');
  require_sizes({{"n", n}});
  const Array<const T> column("t", t, n);
  const Array<real_t<T>> values("w", w, n);
  const auto array = Array<T>::if_wanted(vectors, "z", z, {n, n}, "ldz", ldz);
  require_no_overlap({values, array}, {column});
  require_finite("t", t, n);
  if (n == 0) return 0;
  const Session session;
  const std::span<const T> first(t, static_cast<std::size_t>(n));
  if constexpr (is_complex<T>) {
    return hermitian_eig<T>(session, first, vectors, w, array);
  } else {
    SpectrumOptions options;
    options.vectors = vectors;
    const Spectrum<T> found = tesela::toeplitz_spectrum<T>(session.runtime(), first, options);
    std::transform(found.values.begin(), found.values.end(), w, [](double value) { return static_cast<T>(value); });
    if (overflows(w, std::ssize(found.values))) return failed(TESELA_INACCURATE, overflow);
    if (static_cast<index_t>(found.values.size()) != n || !found.good())
      return failed(TESELA_INACCURATE, std::to_string(found.values.size()) + " of " + std::to_string(n) +
                                           " eigenvalues found, " + std::to_string(found.uncertain) +
                                           " of them uncertain");
    if (vectors && found.vectors) found.vectors->copy_to(z, array.ld);
    return 0;
  }
}

}  // namespace tesela::c

#ifdef TESELA_PYTHON
#include "interfaces/python/results.hpp"
#include "interfaces/python/subsets.hpp"

#include <nanobind/stl/vector.h>

namespace tesela::python {
namespace {

template <class T>
std::span<const T> span_of(const Columns<T>& columns) {
  return {columns.data, static_cast<std::size_t>(columns.rows)};
}

template <class T>
struct Found {
  std::vector<T> values;
  std::optional<HostMatrix<T>> vectors;
  std::string problem;
};

/// Returns `count` values and columns from `first` on.
template <class T>
Found<T> part_of(const Spectrum<T>& found, std::size_t first, std::size_t count) {
  Found<T> part;
  for (std::size_t i = first; i < first + count; ++i) part.values.push_back(static_cast<T>(found.values[i]));
  if (!found.vectors) return part;
  HostMatrix<T> all = found.vectors->to_host();
  if (count == found.values.size()) {
    part.vectors = std::move(all);
  } else {
    part.vectors.emplace(all.rows(), static_cast<index_t>(count));
    std::copy_n(all.data() + static_cast<index_t>(first) * all.rows(), part.vectors->size(), part.vectors->data());
  }
  return part;
}

/// Returns options for (low, high] in terms of counts over [low, high); values within rounding of an end count as equal
/// to it.
template <class T>
SpectrumOptions above_ends(Graph& g, std::span<const T> t, SpectrumOptions options) {
  if (!std::isfinite(options.low) && !std::isfinite(options.high)) return options;
  const SineToeplitz<T> A(g, t);
  const double above = 8 * std::ldexp(toeplitz_resolution(A), A.exponent());  // counts use shifts 4 below
  options.low += above;
  options.high += above;
  return options;
}

/// Solves the problem for complex numbers.
AnyArray hermitian(const Argument& c, const SymmetricEigOptions& options) {
  return in_number_type({&c}, [&]<class T>(T) -> AnyArray {
    if constexpr (!is_complex<T>) {
      throw std::logic_error("hermitian: real numbers");
    } else {
      const auto column = finite_on_host<T>("eigh_toeplitz", c);
      HermitianToeplitzEig<T> found = with_workers([&](const c::Session& session) {
        return hermitian_toeplitz_eig<T>(session.runtime(), span_of(column), options);
      });
      if (!found.status.ok()) {
        const std::string words = to_string(found.status);
        raise_lin_alg_error("eigh_toeplitz: " + words, words, nb::none());
      }
      std::vector<real_t<T>> values;
      for (const double value : found.values) values.push_back(static_cast<real_t<T>>(value));
      const nb::object w = to_python(values, c.place());
      if (!options.vectors) return w;
      if (c.rows() == 0) found.vectors = HostMatrix<T>(0, 0);
      return nb::cast(EighResult{w, to_python(std::move(found.vectors), c.place())});
    }
  });
}

AnyArray eigh_toeplitz(const ArrayLike& c_given, Flag eigvals_only, const ByIndex& by_index, const ByValue& by_value) {
  const Argument c("c", c_given, Numbers::complex_too);
  c.require_vector();
  require_one_subset(by_index, by_value);
  const index_t n = c.rows();
  const auto positions = positions_of(by_index, n);
  const Values range = values_of(by_value);
  if (c.complex()) {
    SymmetricEigOptions selected;
    selected.vectors = !eigvals_only;
    selected.positions = positions;
    selected.low = range.low;
    selected.high = range.high;
    return hermitian(c, selected);
  }
  SpectrumOptions options;
  options.vectors = !eigvals_only;
  options.low = range.low;
  options.high = range.high;
  std::size_t first = 0;
  if (positions && positions->end <= n - positions->begin) {
    options.smallest = positions->end;
    first = static_cast<std::size_t>(positions->begin);
  } else if (positions) {
    options.largest = n - positions->begin;
  }
  return in_precision({&c}, [&]<class T>(T) -> AnyArray {
    const auto column = finite_on_host<T>("eigh_toeplitz", c);
    Found<T> found = with_workers([&](const c::Session& session) {
      if (n == 0) return Found<T>{{}, HostMatrix<T>(0, 0), {}};
      Graph g(session);
      const Spectrum<T> spectrum = toeplitz_spectrum<T>(g, span_of(column), above_ends<T>(g, span_of(column), options));
      Found<T> none;
      if (std::any_of(spectrum.values.begin(), spectrum.values.end(),
                      [](double value) { return !std::isfinite(static_cast<T>(value)); })) {
        none.problem = c::overflow;
        return none;
      }
      if (!spectrum.good()) {
        none.problem = std::to_string(spectrum.values.size()) + " of " + std::to_string(spectrum.expected) +
                       " eigenvalues found, " + std::to_string(spectrum.uncertain) + " of them uncertain" +
                       (spectrum.moved.good() ? "" : "; an end of the range is too near to many eigenvalues");
        return none;
      }
      return part_of(spectrum, first, positions ? static_cast<std::size_t>(positions->size()) : spectrum.values.size());
    });
    if (!found.problem.empty())
      raise_lin_alg_error("eigh_toeplitz: " + found.problem, found.problem == c::overflow ? c::overflow : "inaccurate",
                          nb::none());
    const nb::object w = to_python(std::move(found.values), c.place());
    if (eigvals_only) return w;
    return nb::cast(EighResult{w, found.vectors ? to_python(std::move(*found.vectors), c.place()) : nb::none()});
  });
}

AnyArray count(const ArrayLike& c_given, const ArrayLike& shifts_given) {
  const Argument c("c", c_given), given("shifts", shifts_given);
  c.require_vector();
  given.require_vector();
  const auto numbers = Columns<double>::on_host(given);
  const std::vector<double> shifts(numbers.data, numbers.data + numbers.rows);
  for (index_t i = 0; i < numbers.rows; ++i)
    if (std::isnan(numbers.data[i])) throw nb::value_error((element("shifts", i) + " is NaN").c_str());
  bool doubtful = false;
  std::vector<index_t> below(shifts.size(), 0);
  if (c.rows() > 0 && !shifts.empty())
    in_precision({&c}, [&]<class T>(T) {
      const auto column = finite_on_host<T>("toeplitz_count", c);
      const std::vector<Inertia> found = with_workers([&](const c::Session& session) {
        Graph g(session);
        return toeplitz_count(g, SineToeplitz<T>(g, span_of(column)), shifts);
      });
      for (std::size_t i = 0; i < found.size(); ++i) {
        below[i] = found[i].total();
        doubtful = doubtful || found[i].doubtful;
      }
    });
  const nb::object counts = to_python(below, c.place());
  if (doubtful) raise_lin_alg_error("toeplitz_count: a count may be off", "doubtful", counts);
  return counts;
}

const Part part([](nb::module_& m) {
  m.def("eigh_toeplitz", eigh_toeplitz, "c"_a, nb::kw_only(), "eigvals_only"_a = false,
        "subset_by_index"_a = nb::none(), "subset_by_value"_a = nb::none(),
        R"(Compute eigenvalues of a symmetric or Hermitian Toeplitz matrix, ascending, and eigenvectors.

A real matrix needs O(n) memory for each vector, a complex one n^2 numbers in all.

Parameters
----------
c : (n,) array
    First column: T[i, j] = c[|i - j|] or, above the diagonal of a complex matrix, its conjugate; c[0] is real.
eigvals_only, subset_by_index, subset_by_value
    As in `eigh`. Eigenvalues within rounding of an end of the range count as equal to it.

Returns
-------
EighResult
    eigenvalues w and eigenvectors v, which can be unpacked; or w alone.

Raises
------
numpy.linalg.LinAlgError
    If fewer eigenvalues were found than counted, or if they are inaccurate.

Examples
--------
>>> import numpy as np, tesela
>>> np.round(tesela.eigh_toeplitz(np.array([2., 1.]), eigvals_only=True), 12)
array([1., 3.])
)");
  m.def("toeplitz_count", count, "c"_a, "shifts"_a,
        R"(Count the eigenvalues of a symmetric Toeplitz matrix below each shift.

An eigenvalue within rounding of a shift counts as equal to it, and so not below it.

Examples
--------
>>> import numpy as np, tesela
>>> tesela.toeplitz_count(np.array([2., 1.]), [0., 2., 4.])
array([0, 1, 2])
)");
});

}  // namespace
}  // namespace tesela::python
#endif
