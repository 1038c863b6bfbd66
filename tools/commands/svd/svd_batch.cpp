#include "tools/problems/svd/svd_batch.hpp"

#include "tools/app/matrix_outputs.hpp"
#include "tools/app/runs.hpp"
#include "tools/app/sizes.hpp"
#include "tools/checks/svd_error.hpp"
#include "tools/commands/svd/svd_parts.hpp"
#include <tesela/algorithms/svd/svd_matrices.hpp>
#include <tesela/runtime/require.hpp>
#include <tesela/tiles/io/file_formats.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace tesela::cli {
namespace {

/// Largest number of matrices whose errors are all measured; above it a sample is.
constexpr index_t most_checked = 1000;

/// Sets the shape from the options or the file, which must hold --batch matrices.
void resolve(SvdCommandOptions& o) {
  if (o.a.empty()) {
    if (o.n < 0) o.n = o.m < 0 ? 32 : o.m;
    if (o.m < 0) o.m = o.n;
  } else {
    const Shape shape = probe_matrix(o.a).shape;
    require(o.batch > 0 ? shape.cols % o.batch == 0 : shape.cols == 0, "svd", "--a",
            fmt::format("{} holds {}, not m x (K n) with K = {}", o.a, to_string(shape), o.batch));
    o.m = shape.rows, o.n = o.batch > 0 ? shape.cols / o.batch : 0;
  }
  require(std::min(o.m, o.n) <= largest_svd_batch_side && std::max(o.m, o.n) <= largest_svd_batch_length, "svd",
          "--batch",
          fmt::format("matrices of {}; a batch takes up to {} x {}", to_string(Shape{o.m, o.n}),
                      largest_svd_batch_length, largest_svd_batch_side));
}

template <class T>
int run(SvdCommandOptions o) {
  Report report("svd", o.common);
  if (o.a.empty()) static_cast<void>(svd_matrix<T>({0, 0}, o.random, 1));  // throws for a wrong kind
  resolve(o);
  const auto m = static_cast<double>(o.m), n = static_cast<double>(o.n), k = std::min(m, n);
  const double vectors = o.values ? 0 : o.full ? m * m + n * n : k * (m + n);
  require_memory("svd", "A and the results", static_cast<double>(o.batch) * (m * n + k + vectors) * sizeof(T));
  describe_svd(o, report);
  report.problem()["batch"] = o.batch;
  SvdBatch<T> found;
  SvdBatchProblem<T> problem{{o.m, o.n}, o.batch, o.vectors(), o.a, o.random, o.scale, o.common.seed};
  {
    Runtime runtime(o.common.runtime());
    problem.runtime = &runtime;
    problem.load();
    const auto solver = svd_batch_table<T>().front().solver(problem);
    run_timed(o.common, runtime, report, solver);
    found = solver.result();
  }
  const index_t least = std::min(o.m, o.n);
  const auto failures = static_cast<index_t>(found.failures.size());
  report.check("found", static_cast<double>(least * (o.batch - failures)));
  report.check("expected", static_cast<double>(least * o.batch));
  if (failures > 0) {
    report.count("failed_matrices", failures);
    report.fail(to_string(found.failures.front()));
    return report.finish();
  }
  if (o.common.check) {
    const SvdBounds bounds = svd_bounds<T>(o.m, o.n);
    const SvdBatchError error = svd_batch_error(problem.a, found.values, found.u ? &*found.u : nullptr,
                                                found.v ? &*found.v : nullptr, most_checked);
    if (error.matrices < o.batch && least > 0) report.check("sampled_matrices", static_cast<double>(error.matrices));
    report.check("max_error", Measured{error.value, bounds.value + error.rounding});
    if (!o.values) {
      report.check("residual", Measured{error.vectors.residual, bounds.value + error.rounding});
      report.check("orthogonality_u", Measured{error.vectors.orthogonality_u, bounds.orthogonality});
      report.check("orthogonality_v", Measured{error.vectors.orthogonality_v, bounds.orthogonality});
    }
  }
  const HostMatrix<T> none;
  write_matrices(report, {{"singular values", o.out, found.values},
                          {"U", o.out_u, found.u ? *found.u : none},
                          {"V", o.out_v, found.v ? *found.v : none}});
  return report.finish();
}

}  // namespace

int run_svd_batch(SvdCommandOptions o) {
  return run_for_number_type(o, []<class T>(SvdCommandOptions& options) { return run<T>(options); });
}

}  // namespace tesela::cli
