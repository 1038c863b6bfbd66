// Not in C yet: Python has it.
#ifdef TESELA_PYTHON
#include "interfaces/python/arrays.hpp"
#include "interfaces/python/results.hpp"
#include <tesela/algorithms/svd/pca.hpp>

namespace tesela::python {
namespace {

struct PcaResult {
  AnyArray loadings, scores, deviations, explained_variance, explained_variance_ratio, means, scales;
};

PcaResult pca(const ArrayLike& a_given, std::optional<index_t> components, Flag scale) {
  const Argument a("a", a_given);
  if (a.is_vector()) throw nb::value_error("a must be a matrix");
  return in_precision({&a}, [&]<class T>(T) {
    Pca<T> found = with_workers([&](const c::Session& session) {
      return tesela::pca<T>(session, Columns<T>(session, a), {.scale = scale, .components = components});
    });
    if (found.status.verdict == SvdStatus::Verdict::not_finite)
      raise_lin_alg_error(element("a", found.status.row, found.status.column) + " is not finite", "not finite",
                          nb::none());
    if (!found.status.ok()) raise_lin_alg_error("pca: " + to_string(found.status), to_string(found.status), nb::none());
    std::vector<double> variances;
    for (const double deviation : found.deviations) variances.push_back(deviation * deviation);
    return PcaResult{to_python(std::move(found.loadings), a.place()),
                     to_python(std::move(found.scores), a.place()),
                     to_python(found.deviations),
                     to_python(variances),
                     to_python(found.shares),
                     to_python(found.means),
                     to_python(found.scales)};
  });
}

const Part part([](nb::module_& m) {
  ResultClass<PcaResult>(m, "PcaResult", "Result of `pca`.")
      .member("loadings", &PcaResult::loadings, "n x k: orthonormal columns, the components.")
      .member("scores", &PcaResult::scores, "m x k: (a - means) / scales times the loadings.")
      .member("deviations", &PcaResult::deviations, "Standard deviations of the scores, descending.")
      .member("explained_variance", &PcaResult::explained_variance, "Variances of the scores.")
      .member("explained_variance_ratio", &PcaResult::explained_variance_ratio,
              "Shares in the sum of the columns' variances.")
      .member("means", &PcaResult::means, "Of the columns.")
      .member("scales", &PcaResult::scales, "Divisors of the centred columns: 1, or their standard deviations.")
      .prints({"explained_variance_ratio"});
  m.def("pca", pca, "a"_a, "components"_a = nb::none(), nb::kw_only(), "scale"_a = false,
        R"(Compute principal components: the singular value decomposition of a table about its means.

Parameters
----------
a : (m, n) array
    A row for each observation, m >= 2.
components : int, optional
    Compute only this many components, at most min(m, n).
scale : bool
    Whether to divide columns by their standard deviations.

Returns
-------
PcaResult
    The largest loading of each component in absolute value is positive, as scikit-learn's.

Raises
------
numpy.linalg.LinAlgError
    If a is not finite.

Examples
--------
>>> import numpy as np, tesela
>>> p = tesela.pca(np.array([[0., 1.], [2., 3.], [4., 5.]]))
>>> np.round(p.explained_variance_ratio, 12) + 0.
array([1., 0.])
)");
});

}  // namespace
}  // namespace tesela::python
#endif
