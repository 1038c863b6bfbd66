#include "tools/commands/eigen/eig_parts.hpp"

namespace tesela::cli {
namespace {

constexpr double mebibyte = 1024.0 * 1024.0;

/// The largest orders by method, for the same workers.
nlohmann::ordered_json largest_orders(const WorkerCounts& workers, const MemoryRoom& room,
                                      SymmetricEigOptions options) {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  options.positions.reset();
  for (const EigMethod method : {EigMethod::two_stage, EigMethod::lapack})
    for (const bool vectors : {false, true}) {
      options.method = method;
      options.vectors = vectors;
      const auto largest = [&](std::size_t element) {
        return largest_order(room, [&](index_t n) { return eig_command_plan(workers, n, element, options); });
      };
      rows.push_back({{"method", name_of(eig_methods(), method)},
                      {"vectors", vectors ? "yes" : "no"},
                      {"single", largest(sizeof(float))},
                      {"double", largest(sizeof(double))}});
    }
  return rows;
}

/// Returns MiB of one matrix, and of the three matrices of a QR iteration, for the orders of Table 1.1 of the Cinvestav
/// thesis (docs/sources.md).
nlohmann::ordered_json published_sizes() {
  nlohmann::ordered_json rows = nlohmann::ordered_json::array();
  for (const int n : {5000, 6000, 7000, 8000, 9000, 10000, 20000, 30000, 40000, 50000, 100000}) {
    const double square = static_cast<double>(n) * n / mebibyte;
    rows.push_back({{"n", n},
                    {"float MiB", 4 * square},
                    {"double MiB", 8 * square},
                    {"3 float MiB", 12 * square},
                    {"3 double MiB", 24 * square}});
  }
  return rows;
}

}  // namespace

MemoryPlan eig_command_plan(const WorkerCounts& workers, index_t n, std::size_t element,
                            const SymmetricEigOptions& options) {
  MemoryPlan plan = plan_symmetric_eig(workers, n, element, options);
  plan.hold({MemoryPlan::host, {n, n}, 1, 0, plan.last_stage()});
  // Code and buffers that the first run touches: of many kernels, or of a library alone.
  const bool stages = eig_method(workers, n, options) == EigMethod::two_stage;
  plan.hold({MemoryPlan::host, {((stages ? 8 : 3) << 20) / static_cast<index_t>(element), 1}, 1, 0, plan.last_stage()});
  if (!options.vectors || workers.gpus == 0) return plan;  // on cores they come when what applied Q has gone
  const Shape vectors{n, options.positions ? options.positions->size() : n};
  // The vectors use the memory of A's copy, which is free by then; the caller's copy of them is additional.
  plan.hold({MemoryPlan::host, vectors, 1, plan.last_stage(), plan.last_stage()});
  return plan;
}

int run_eig_plan(const EigOptions& o, const SymmetricEigOptions& options) {
  const Runtime runtime(o.common.runtime());
  const MemoryRoom room = o.plan.room(runtime);
  const index_t n = o.input.n;
  const std::size_t element = o.common.number_bytes();
  const WorkerCounts workers =
      o.common.complex() ? workers_for<std::complex<double>>(runtime) : workers_for<double>(runtime);
  return finish_plan(o.common, runtime,
                     {{"command", "eig"},
                      {"n", n},
                      {"precision", o.common.precision},
                      {"method", name_of(eig_methods(), eig_method(workers, n, options))},
                      {"vectors", options.vectors}},
                     eig_command_plan(workers, n, element, options), room,
                     {{"largest", largest_orders(runtime, room, options)}, {"published", published_sizes()}});
}

}  // namespace tesela::cli
