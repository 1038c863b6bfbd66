#include "interfaces/c/arguments.hpp"
#include <tesela/algorithms/svd/svd.hpp>

namespace tesela::c {

/// Computes A = U diag(s) V^T, m x n, with k = min(m, n) values, descending (LAPACK gesdd).
///
/// jobz     'S' computes the first k columns of U and rows of V^T; 'A' all m and n; 'N' none: u and vt are not used.
/// A        only read.
/// s        k numbers.
/// u, vt    m x k and k x n, or m x m and n x n.
/// info     > 0: A is not finite, a value overflows, or the iteration did not converge; tesela_error() has the message.
template <class T>
Code gesdd(char jobz, index_t m, index_t n, T* a, index_t lda, T* s, T* u, index_t ldu, T* vt, index_t ldvt) {
  const bool all = jobz == 'A' || jobz == 'a', economic = jobz == 'S' || jobz == 's', some = all || economic;
  if (!some && jobz != 'N' && jobz != 'n')
    throw WrongArgument("jobz", in_quotes(jobz) + " is none of 'S', 'A' and 'N'");
  require_sizes({{"m", m}, {"n", n}});
  const index_t k = std::min(m, n);
  const Array<T> array("a", a, {m, n}, "lda", lda), values("s", s, k);
  const auto left = Array<T>::if_wanted(some, "u", u, {m, all ? m : k}, "ldu", ldu);
  const auto right = Array<T>::if_wanted(some, "vt", vt, {all ? n : k, n}, "ldvt", ldvt);
  require_no_overlap({array, values, left, right});
  const Session session;
  const Svd<T> found = svd<T>(session, array,
                              {.vectors = all    ? SvdVectors::all
                                          : some ? SvdVectors::economic
                                                 : SvdVectors::none});
  if (!found.status.ok()) return failed(1, to_string(found.status));
  std::transform(found.values.begin(), found.values.end(), s, [](double value) { return static_cast<T>(value); });
  if (!some) return 0;
  left.take(*found.u);
  for (index_t j = 0; j < right.cols; ++j)
    for (index_t i = 0; i < right.rows; ++i) vt[i + j * ldvt] = (*found.v)(j, i);
  return 0;
}

}  // namespace tesela::c

#ifdef TESELA_PYTHON
#include "interfaces/python/arrays.hpp"
#include "interfaces/python/results.hpp"

namespace tesela::python {
namespace {

struct SvdResult {
  AnyArray u, s, vh;
};

/// Returns (u, s, vh), or s alone; of the `largest` values if given.
AnyArray svd(const ArrayLike& a_given, Flag full_matrices, Flag compute_uv, std::optional<index_t> largest) {
  const Argument a("a", a_given);
  if (a.is_vector()) throw nb::value_error("a must be a matrix");
  SvdOptions options;
  options.vectors = !compute_uv ? SvdVectors::none : full_matrices && !largest ? SvdVectors::all : SvdVectors::economic;
  options.largest = largest;
  return in_precision({&a}, [&]<class T>(T) -> AnyArray {
    Svd<T> found = with_workers(
        [&](const c::Session& session) { return tesela::svd<T>(session, Columns<T>(session, a), options); });
    if (found.status.verdict == SvdStatus::Verdict::not_finite)
      raise_lin_alg_error(element("a", found.status.row, found.status.column) + " is not finite", "not finite",
                          nb::none());
    if (!found.status.ok()) raise_lin_alg_error("svd: " + to_string(found.status), to_string(found.status), nb::none());
    std::vector<T> values;
    for (const double value : found.values) values.push_back(static_cast<T>(value));
    const nb::object s = to_python(values, a.place());
    if (!compute_uv) return s;
    return nb::cast(SvdResult{to_python(std::move(*found.u), a.place()), s,
                              nb::object(to_python(std::move(*found.v), a.place()).attr("T"))});
  });
}

const Part part([](nb::module_& m) {
  ResultClass<SvdResult> result(m, "SvdResult", "Result of `svd`: u, s and vh. It can be unpacked.");
  result.member("u", &SvdResult::u, "Left singular vectors, as columns.")
      .member("s", &SvdResult::s, "Singular values, descending.")
      .member("vh", &SvdResult::vh, "Right singular vectors, as rows.")
      .prints({"s"});
  unpacks<SvdResult>(result, [](const SvdResult& r) { return nb::make_tuple(r.u, r.s, r.vh); });
  m.def("_svd", svd, "a"_a, "full_matrices"_a, "compute_uv"_a, "largest"_a = nb::none());
});

}  // namespace
}  // namespace tesela::python
#endif
