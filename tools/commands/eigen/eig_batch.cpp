#include "tools/commands/eigen/eig_batch.hpp"

#include "tools/app/matrix_outputs.hpp"
#include "tools/app/numbers.hpp"
#include "tools/app/report.hpp"
#include "tools/app/runs.hpp"
#include "tools/app/sizes.hpp"
#include "tools/checks/eig_batch_error.hpp"
#include "tools/checks/eig_error.hpp"
#include "tools/problems/support/symmetric_input.hpp"
#include <tesela/algorithms/eigen/eig_batch.hpp>
#include <tesela/algorithms/eigen/eigen_matrices.hpp>
#include <tesela/tiles/io/file_formats.hpp>
#include <tesela/tiles/parallel_for.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tesela::cli {
namespace {

/// Largest number of matrices whose errors are all measured; above it a sample is.
constexpr index_t most_checked = 1000;

/// The order that the options and the file say; a file must hold as many matrices as --batch says.
index_t resolve(EigBatch& o) {
  if (o.input.a.empty()) {
    o.input.resolve(32);
  } else {
    const Shape shape = probe_matrix(o.input.a).shape;
    o.input.n = shape.rows;
    if (shape.cols != shape.rows * o.count)
      throw ArgumentError("eig", "--a",
                          fmt::format("{} holds {}, not n x (K n) with K = {}", o.input.a, to_string(shape), o.count));
  }
  if (o.input.n > largest_batch_order)
    throw ArgumentError(
        "eig", "--batch",
        fmt::format("matrices of order {}; a batch takes orders up to {}", o.input.n, largest_batch_order));
  return o.input.n;
}

template <class T>
HostMatrix<T> load_batch(const EigBatch& o, std::vector<std::string>& notes) {
  const index_t n = o.input.n;
  if (!o.input.a.empty())
    return read_symmetric<T>({"eig", "--a", o.input.a, "A", o.input.uplo, o.input.symmetrize}, notes);
  const SymmetricChoice kind = parse_symmetric_kind(o.input.random);
  std::vector<double> given;
  if (!kind.file.empty()) {
    const HostMatrix<double> file = read_matrix<double>(kind.file);
    given.assign(file.data(), file.data() + file.size());
  }
  const auto matrix = [&](index_t k) {
    return SymmetricMatrix(kind.kind, n, kind.parameter, o.common.seed + static_cast<std::uint64_t>(k), given);
  };
  matrix(0);  // throws for a wrong --random even if the batch is empty
  const T scale = in_precision<T>("eig", "--scale", o.input.scale);
  HostMatrix<T> a(n, n * o.count);
  parallel_for(o.count, 16, [&](index_t first, index_t end) {
    for (index_t k = first; k < end; ++k) {
      const SymmetricMatrix one = matrix(k);
      for (index_t j = 0; j < n; ++j)
        for (index_t i = 0; i < n; ++i) a(i, k * n + j) = scale * one.element<T>(i, j);
    }
  });
  return a;
}

template <class T>
struct Solved {
  EigBatchResult result;
  HostMatrix<T> values, vectors;
};

template <class T>
Solved<T> solve(const EigBatch& o, const HostMatrix<T>& a, Report& report) {
  const index_t n = o.input.n, rows = std::max<index_t>(n, 1);
  Solved<T> solved{{}, HostMatrix<T>(n, o.count), HostMatrix<T>(n, n * o.count)};
  Runtime runtime(o.common.runtime());
  const index_t at_once = suitable_eig_batch<T>(runtime, n);
  const auto A = TileMatrix<T>::map(runtime, solved.vectors.data(), n, n * o.count, rows, {rows, rows * at_once}, "A"),
             W = TileMatrix<T>::map(runtime, solved.values.data(), n, o.count, rows, {rows, at_once}, "W");
  run_timed(o.common, runtime, report,
            {[&] { A.copy_from(a.data(), a.ld()); },
             [&](Graph& g, bool) {
               solved.result = eig_batch(g, A, W, {o.vectors});
               wait_with_progress(g);
               return 0.0;
             }});
  return solved;
}

/// Reports the largest errors of the measured matrices; the search succeeded in all of them.
template <class T>
void report_errors(const EigBatch& o, const HostMatrix<T>& a, const Solved<T>& solved, Report& report) {
  const index_t n = o.input.n;
  const EigBounds bounds = eig_bounds<T>(n);
  const EigBatchError error =
      eig_batch_error(a, solved.values, o.vectors ? &solved.vectors : nullptr, o.check, most_checked, o.common.seed);
  if (error.matrices < o.count && n > 0) report.check("sampled_matrices", static_cast<double>(error.matrices));
  if (o.check) report.check("max_error", Measured{error.value, bounds.value + error.rounding});
  if (!o.vectors) return;
  report.check("max_residual", Measured{error.residual, bounds.value + error.rounding});
  report.check("orthogonality", Measured{error.orthogonality, bounds.orthogonality});
}

template <class T>
int run(EigBatch o) {
  Report report("eig", o.common);
  const index_t n = resolve(o);
  o.vectors = o.vectors || !o.vectors_out.empty();
  const auto order = static_cast<double>(n);
  require_memory("eig", "A, its copy and the eigenvalues",
                 static_cast<double>(o.count) * (2 * order + 1) * order * sizeof(T));
  report.problem() = o.input.describe(o.common.seed);
  report.problem().update({{"batch", o.count}, {"vectors", o.vectors}, {"precision", o.common.precision}});
  std::vector<std::string> notes;
  const HostMatrix<T> a = load_batch<T>(o, notes);
  for (const std::string& note : notes) report.note(note);
  const Solved<T> solved = solve(o, a, report);
  const auto failures = static_cast<index_t>(solved.result.failures.size());
  report.check("found", static_cast<double>(n * (o.count - failures)));
  report.check("expected", static_cast<double>(n * o.count));
  if (failures > 0) {
    report.count("failed_matrices", failures);
    report.fail(to_string(solved.result.failures.front()));
    return report.finish();
  }
  const T *const values = solved.values.data(), *const end = values + solved.values.size(),
                 *const over = std::find_if(values, end, [](T w) { return std::isinf(w); });
  if (over != end)
    report.fail(fmt::format("overflow: an eigenvalue of matrix {} is larger than the largest number",
                            (over - values) / solved.values.ld() + 1));
  report_errors(o, a, solved, report);
  write_matrices(report, {{"eigenvalues", o.out, solved.values}, {"eigenvectors", o.vectors_out, solved.vectors}});
  return report.finish();
}

}  // namespace

int run_eig_batch(EigBatch o) {
  return o.common.precision == "s" ? run<float>(std::move(o)) : run<double>(std::move(o));
}

}  // namespace tesela::cli
