#include "tools/app/matrix_outputs.hpp"
#include "tools/app/runs.hpp"
#include "tools/app/sizes.hpp"
#include "tools/commands/svd/svd_parts.hpp"
#include "tools/problems/svd/svd.hpp"
#include <tesela/algorithms/svd/svd_matrices.hpp>
#include <tesela/runtime/require.hpp>

#include <algorithm>
#include <limits>

namespace tesela::cli {
namespace {

/// Reports the error of the decomposition, which may not exceed its bound, and the orthogonality of the vectors.
template <class T>
void report_errors(const SvdCommandOptions& o, const HostMatrix<T>& a, const LowRankSvd<T>& found, Report& report) {
  const SvdBounds bounds = svd_bounds<T>(o.m, o.n);
  const bool compared = o.compare && std::min(o.m, o.n) <= most_compared && found.norm > 0;
  const std::vector<double> reference = compared ? reference_singular_values(a) : std::vector<double>();
  // The largest value found may be far below ||A||.
  const double norm = compared ? reference.front() : found.norm,
               rounding = norm > 0 ? std::numeric_limits<double>::denorm_min() / norm : 0,
               bound = norm > 0 ? found.error_bound / norm : 0;
  report.check("low_rank_error",
               Measured{low_rank_error(a, found.values, *found.u, *found.v, norm), bounds.value + rounding, bound});
  if (compared) {
    const auto rank = static_cast<std::size_t>(o.rank);
    report.check("max_error", Measured{singular_value_error(found.values, reference), bounds.value + rounding, bound});
    report.check("best_error", rank < reference.size() ? reference[rank] / reference.front() : 0);
  }
  const SvdError vectors = svd_error(a, found.values, *found.u, *found.v);
  report.check("orthogonality_u", Measured{vectors.orthogonality_u, bounds.orthogonality});
  report.check("orthogonality_v", Measured{vectors.orthogonality_v, bounds.orthogonality});
}

template <class T>
int run(SvdCommandOptions o) {
  Report report("svd", o.common);
  if (o.a.empty()) static_cast<void>(svd_matrix<T>({0, 0}, o.random, 1));  // throws for a wrong kind
  resolve_svd_shape(o);
  require(o.rank <= std::min(o.m, o.n), "svd", "--rank", o.rank, " of ", std::min(o.m, o.n), " values");
  const LowRankOptions options{o.rank, o.oversampling, o.power, o.common.seed};
  const auto m = static_cast<double>(o.m), n = static_cast<double>(o.n);
  require_memory(
      "svd", "A, its copy and the vectors",
      (2 * m * n + 4 * (m + n) * static_cast<double>(o.rank + std::min(o.oversampling, std::min(o.m, o.n)))) *
          sizeof(T));
  describe_svd(o, report);
  report.problem().update(
      {{"method", "random products"}, {"rank", o.rank}, {"power", o.power}, {"oversampling", o.oversampling}});
  SvdProblem<T> problem{{o.m, o.n}, {}, o.a, o.random, o.scale, o.common.seed};
  LowRankSvd<T> found;
  {
    Runtime runtime(o.common.runtime());
    problem.runtime = &runtime;
    problem.load();
    const auto work = [&](Graph& g, bool) {
      found = low_rank_svd(g, MatrixView<T>(problem.a), options);
      return 0.0;
    };
    run_timed(o.common, runtime, report, {[] {}, work, flops_each<T> * low_rank_svd_flops({o.m, o.n}, options)});
  }
  if (!found.status.ok()) {
    report.fail(to_string(found.status));
    return report.finish();
  }
  report.check("found", static_cast<double>(found.values.size()));
  report.check("bound", found.norm > 0 ? found.error_bound / found.norm : 0);
  if (o.common.check) report_errors(o, problem.a, found, report);
  HostMatrix<double> values(std::ssize(found.values), 1);
  std::copy(found.values.begin(), found.values.end(), values.data());
  write_matrices(
      report,
      {{"singular values", o.out, values, OneColumn::vector}, {"U", o.out_u, *found.u}, {"V", o.out_v, *found.v}});
  return report.finish();
}

}  // namespace

int run_svd_rank(SvdCommandOptions o) {
  return run_for_number_type(o, []<class T>(SvdCommandOptions& options) { return run<T>(options); });
}

}  // namespace tesela::cli
