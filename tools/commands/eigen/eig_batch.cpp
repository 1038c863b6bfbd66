#include "tools/problems/eigen/eig_batch.hpp"

#include "tools/app/matrix_outputs.hpp"
#include "tools/app/runs.hpp"
#include "tools/app/sizes.hpp"
#include "tools/checks/eig_error.hpp"
#include "tools/commands/eigen/eig_parts.hpp"
#include <tesela/runtime/require.hpp>
#include <tesela/tiles/io/file_formats.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tesela::cli {
namespace {

/// Largest number of matrices whose errors are all measured; above it a sample is.
constexpr index_t most_checked = 1000;

/// Sets the order from the options or the file, which must hold --batch matrices.
void resolve(EigInput& input, index_t count) {
  if (input.a.empty()) {
    input.resolve(32);
  } else {
    const Shape shape = probe_matrix(input.a).shape;
    input.n = shape.rows;
    require(shape.cols == shape.rows * count, "eig", "--a",
            fmt::format("{} holds {}, not n x (K n) with K = {}", input.a, to_string(shape), count));
  }
  require(input.n <= largest_batch_order, "eig", "--batch",
          fmt::format("matrices of order {}; a batch takes orders up to {}", input.n, largest_batch_order));
}

template <class T>
int run(EigOptions o) {
  Report report("eig", o.common);
  resolve(o.input, o.batch);
  require_holds_numbers("eig", o.common, {{"--out-vectors", &o.vectors_out}});
  const index_t n = o.input.n;
  const auto order = static_cast<double>(n);
  if (o.plan.only) plan_only("eig", o.common.json_path, o.common.quiet);
  require_memory("eig", "A, its copy and the eigenvalues",
                 static_cast<double>(o.batch) * (2 * order + 1) * order * sizeof(T));
  report.problem() = o.input.describe(o.common.seed);
  report.problem().update({{"batch", o.batch}, {"vectors", o.vectors}, {"precision", o.common.precision}});
  EigBatchFound<T> found;
  EigBatchProblem<T> problem{o.input, o.batch, o.vectors, o.common.seed};
  {
    Runtime runtime(o.common.runtime());
    problem.runtime = &runtime;
    problem.load();
    const auto solver = eig_batch_table<T>().front().solver(problem);
    run_timed(o.common, runtime, report, solver);
    found = solver.result();
  }
  for (const std::string& note : problem.notes) report.note(note);
  const auto failures = static_cast<index_t>(found.result.failures.size());
  report.check("found", static_cast<double>(n * (o.batch - failures)));
  report.check("expected", static_cast<double>(n * o.batch));
  if (failures > 0) {
    report.count("failed_matrices", failures);
    report.fail(to_string(found.result.failures.front()));
    return report.finish();
  }
  const auto *const values = found.values.data(), *const end = values + found.values.size(),
                    *const over = std::find_if(values, end, [](real_t<T> w) { return std::isinf(w); });
  if (over != end)
    report.fail(fmt::format("overflow: an eigenvalue of matrix {} is larger than the largest number",
                            (over - values) / found.values.ld() + 1));
  const EigBounds bounds = eig_bounds<T>(n);
  const EigBatchError error = eig_batch_error(problem.a, found.values, o.vectors ? &found.vectors : nullptr, o.check,
                                              most_checked, o.common.seed);
  if (error.matrices < o.batch && n > 0) report.check("sampled_matrices", static_cast<double>(error.matrices));
  if (o.check) report.check("max_error", Measured{error.value, bounds.value + error.rounding});
  if (o.vectors) {
    report.check("max_residual", Measured{error.residual, bounds.value + error.rounding});
    report.check("orthogonality", Measured{error.orthogonality, bounds.orthogonality});
  }
  write_matrices(report, {{"eigenvalues", o.out, found.values}, {"eigenvectors", o.vectors_out, found.vectors}});
  return report.finish();
}

}  // namespace

int run_eig_batch(EigOptions o) {
  return run_for_number_type(o, []<class T>(EigOptions& options) { return run<T>(options); });
}

}  // namespace tesela::cli
