#include <tesela/algorithms/tridiagonal/cyclic_reduction.hpp>
#include <tesela/algorithms/tridiagonal/parallel_reduction.hpp>
#include <tesela/algorithms/tridiagonal/tridiagonal_methods.hpp>
#include <tesela/codelets/tridiagonal/cyclic_reduction.hpp>
#include <tesela/runtime/require.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <optional>
#include <string>

namespace tesela {

using namespace kernels;
namespace {

using Method = TridiagonalMethod;

constexpr std::array<Named<Method>, 11> all{{
    {Method::automatic, "auto", "row blocks, scaled partial pivoting"},
    {Method::lapack, "lapack", "one matrix at a time: gtsv, partial pivoting"},
    {Method::thomas, "thomas", "one matrix at a time, without pivoting"},
    {Method::cyclic_reduction, "cr", "cyclic reduction, one matrix at a time, without pivoting"},
    {Method::cr_hybrid, "cr-hybrid", "cr, then Thomas on a core for the last unknowns"},
    {Method::cr_shared, "cr-shared", "cr staged in shared memory"},
    {Method::cr_coalesced, "cr-coalesced", "cr in twice the storage"},
    {Method::pcr, "pcr", "parallel cyclic reduction, one GPU block per system, without pivoting"},
    {Method::rd, "rd", "recursive doubling in the same way, corrected by its residual"},
    {Method::cr_pcr, "cr-pcr", "cr, then pcr for the last unknowns"},
    {Method::cr_rd, "cr-rd", "cr, then rd for the last unknowns"},
}};

CyclicReduction variant(Method method) {
  switch (method) {
    case Method::cr_hybrid: return CyclicReduction::hybrid;
    case Method::cr_shared: return CyclicReduction::shared;
    case Method::cr_coalesced: return CyclicReduction::coalesced;
    default: return CyclicReduction::plain;
  }
}

bool in_sequence(Method method) { return method == Method::thomas || method == Method::lapack; }

std::optional<ParallelReduction> parallel(Method method) {
  switch (method) {
    case Method::pcr: return ParallelReduction::pcr;
    case Method::rd: return ParallelReduction::rd;
    case Method::cr_pcr: return ParallelReduction::cr_pcr;
    case Method::cr_rd: return ParallelReduction::cr_rd;
    default: return std::nullopt;
  }
}

/// Returns the tiles that suit the workers.
TridiagonalPlan suitable_tiles(const Runtime& runtime, TridiagonalMethod method, index_t n, index_t systems) {
  const index_t gpus = runtime.gpus(), most = gpus > 0 ? index_t{1} << 24 : index_t{1} << 16;
  const index_t workers = std::max<index_t>(runtime.cpus() + gpus, 1), whole = std::max<index_t>(n, 1);
  // On cores, rows at the ends of tiles are read twice; long tiles have fewer of them.
  const bool is_long = gpus == 0 && method == Method::automatic && n >= (2 * workers) << 18;
  const index_t along =
      in_sequence(method) || parallel(method) ? whole : std::min(whole, is_long ? index_t{1} << 18 : most);
  return {along, std::clamp<index_t>(ceil_div(systems, 2 * workers), 1, std::max<index_t>(most / along, 1))};
}

/// Returns how often n equations in tiles of `along` rows are reduced.
index_t levels(const TridiagonalMethodOptions& options, index_t n, index_t along) {
  if (options.method == Method::automatic) return n > along ? 2 : 1;
  if (in_sequence(options.method)) return 0;
  if (parallel(options.method)) {
    const bool hybrid = options.method == Method::cr_pcr || options.method == Method::cr_rd;
    const int halvings = hybrid ? cr_levels(n, options.cut) : 0;
    return halvings + (n > 0 ? std::bit_width(static_cast<std::uint64_t>((n >> halvings) - 1)) : 0);
  }
  const index_t cut = options.method == Method::cr_hybrid ? options.cut : 0;
  if (n <= along) return cr_levels(n, cut);
  // All tiles are halved equally often; the remaining equations form one tile.
  const int first = std::min(cr_levels(n, cut), std::countr_zero(static_cast<std::uint64_t>(along)));
  return first + cr_levels(n >> first, cut);
}

}  // namespace

std::span<const Named<TridiagonalMethod>> tridiagonal_methods() { return all; }

template <class T>
void tridiagonal_solve_by(Graph& g, const Tridiagonal<T>& A, const TileMatrix<T>& B,
                          const TridiagonalMethodOptions& options) {
  const auto& [systems, periodic, equilibrate, one_pass] = options.systems;
  require(
      options.method == Method::automatic || (systems == SystemsIn::columns && !periodic && !equilibrate && !one_pass),
      "tridiagonal_solve_by", "options", std::string(name_of(tridiagonal_methods(), options.method)),
      " solves plain systems in columns only, and does neither equilibrate nor try one pass");
  if (B.m() == 0 || B.n() == 0) return;
  if (options.method == Method::automatic) return tridiagonal_solve(g, A, B, options.systems);
  if (options.method == Method::thomas) return thomas(g, A, B);
  if (options.method == Method::lapack) return gtsv(g, A, B);
  if (const auto how = parallel(options.method)) return parallel_reduction(g, A, B, {*how, options.cut});
  cyclic_reduction(g, A, B, {variant(options.method), options.cut});
}

TridiagonalPlan plan_tridiagonal(const Runtime& runtime, const TridiagonalMethodOptions& options, index_t n,
                                 index_t systems, TridiagonalPlan wanted) {
  TridiagonalPlan plan = wanted.along > 0 ? wanted : suitable_tiles(runtime, options.method, n, systems);
  plan.levels = levels(options, n, plan.along);
  return plan;
}

TESELA_FUNCTIONS_FOR_NUMBERS(tridiagonal_solve_by)

}  // namespace tesela
