#pragma once

#include "tools/peers/restored.hpp"
#include "tools/problems/method.hpp"
#include "tools/problems/qr/qr_method.hpp"
#include <tesela/algorithms/dense/matrices.hpp>
#include <tesela/algorithms/least_squares/least_squares.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/host/normal_residual.hpp>
#include <tesela/runtime/runtime.hpp>
#include <tesela/tiles/filled.hpp>
#include <tesela/tiles/generator.hpp>
#include <tesela/tiles/host_matrix.hpp>
#include <tesela/tiles/io/matrix_rows.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace tesela::cli {

/// Replaces "auto" by tiles if an option of tiles alone is given.
void choose_tiles_for_options(QrMethod& method);

/// Throws ArgumentError unless it is in [0, 1).
void require_rcond(const char* command, double rcond);

/// Returns the name in reports of the method of these options.
std::string method_name(const QrMethod& method, const OlsOptions& options);

/// Notes which norm of x is least if A's rank leaves x undetermined.
void note_least_norm(bool unique, bool original_units, Report& report);

/// Returns whether A may stay in its file and be read by rows.
bool can_stream(const QrMethod& method, const std::string& file, Shape a, index_t r);

/// min ||A X - B||: the matrices, and the memory that the methods share.
template <class T>
struct OlsProblem {
  QrMethod method;  ///< a row's name replaces its name
  double rcond = 0;
  std::string tile;  ///< the text of --tile
  Shape shape;       ///< of A
  index_t rhs = 1;
  std::uint64_t seed = 1;
  Runtime* runtime = nullptr;                ///< null: only libraries run
  HostMatrix<T> a = {}, b = {};              ///< A and B
  std::unique_ptr<MatrixRows<T>> rows = {};  ///< an A of real numbers that stays in its file
  HostMatrix<T> work_a = {}, work_b = {};    ///< A and B in a run; work_b has max(m, n) rows
  bool resident = false;                     ///< A and B are generated where the workers keep their tiles
  bool keep_triangle = false;                ///< as OlsOptions::keep_triangle
  bool multipliers = false;                  ///< as OlsOptions::multipliers
  const char* command = "ols";               ///< in messages
  std::vector<PinnedMemory> pinned = {};
  int unit_a = 0, unit_b = 0;  ///< exponents: a run of ours solves for 2^-unit_a A and 2^-unit_b B

  /// Generates uniform A and B for a benchmark, in page-locked memory or where the workers keep their tiles.
  void generate_uniform(bool on_workers);
  Generator<T> a_generator() const { return {Pattern::uniform, T(0), shape.cols, seed, shape.rows}; }
  Generator<T> b_generator() const { return {Pattern::uniform, T(0), rhs, seed + 1, shape.rows}; }
  /// Returns the options of the row of this name, and A's tiles for them.
  OlsOptions options(const std::string& name) const;
  TileShape tiles(const OlsOptions& options) const;
  /// Puts method and tiles of the row of this name into a report.
  void describe(const std::string& name, nlohmann::json& report) const;
  double flops() const { return flops_each<T> * ols_flops(shape, rhs); }
  void allocate();
  /// Copies A and B into work_a and work_b, scaled, with zeros below B.
  void restore();
  /// Restores A and B in tiles.
  void restore(bench::RestoredMatrix<T>& A, bench::RestoredMatrix<T>& B, TileShape tiles);
  /// Calls use(first row, rows) for the original A in blocks of rows, once at least.
  template <class Use>
  void for_each_block(const Use& use) const {
    const index_t most = std::min<index_t>(shape.rows, 16384);
    HostMatrix<T> block(rows != nullptr ? most : 0, shape.cols);
    index_t first = 0;
    do {
      const index_t count = std::min(most, shape.rows - first);
      if constexpr (!is_complex<T>)
        if (rows != nullptr) rows->read(first, {block.data(), count, shape.cols, block.ld()});
      use(first, rows != nullptr ? Block<const T>{block.data(), count, shape.cols, block.ld()}
                                 : Block<const T>{a.data() + first, count, shape.cols, a.ld()});
    } while ((first += most) < shape.rows);
  }
};

/// Returns uniform random numbers.
template <class T>
HostMatrix<T> uniform(Shape shape, std::uint64_t seed) {
  return generate<T>(shape, Generator<T>{Pattern::uniform, T(0), 0, seed});
}

/// B += A op(X) on all cores.
template <class T>
void add_product(const HostMatrix<T>& a, Op op, const HostMatrix<T>& x, HostMatrix<T>& b) {
  const blas::Threads threads(blas::all_cores());
  if (b.size() > 0 && a.cols() > 0)
    blas::gemm(Op::none, op, b.rows(), b.cols(), a.cols(), T(1), a.data(), a.ld(), x.data(), x.ld(), T(1), b.data(),
               b.ld());
}

/// Returns the rows of Tesela's methods and of its rotations.
template <class E, class Problem, class Result>
std::vector<Method<Problem, Result>> graph_rows(std::span<const Named<E>> methods,
                                                Solver<Result> (*solver)(Problem&, const std::string&)) {
  std::vector<Method<Problem, Result>> rows;
  const auto add = [&](const auto& all) {
    for (const auto& method : all) {
      const auto same = [&](const auto& row) { return row.name == method.name; };
      if (std::any_of(rows.begin(), rows.end(), same)) continue;  // "givens" is in both lists
      rows.push_back({method.name, method.about, Method<Problem, Result>::Place::graph,
                      [solver, name = method.name](Problem& p) { return solver(p, name); }});
    }
  };
  add(methods);
  add(givens_methods());
  return rows;
}

/// Restores a generated matrix where the workers keep its tiles.
template <class T>
void restore_on_devices(Runtime& runtime, bench::RestoredMatrix<T>& matrix, Shape shape, TileShape tiles,
                        const Generator<T>& generator) {
  matrix.on_devices(
      runtime, shape, tiles, [&](Graph& g, const TileMatrix<T>& original) { fill(g, original, generator); },
      [](index_t, index_t) { return Priority{}; });
}

/// Returns the solver by solve(graph, A, B) on tiles, or by read(graph) for an A of real numbers in its file.
template <class Answer, class T, class Solve, class Read>
Solver<Answer> graph_solver(OlsProblem<T>& p, const OlsOptions& options, const Solve& solve, const Read& read) {
  struct State {
    bench::RestoredMatrix<T> A, B;
    Answer answer;
  };
  const auto state = std::make_shared<State>();
  const auto result = [state] { return std::move(state->answer); };
  if constexpr (!is_complex<T>)
    if (p.rows != nullptr) return {[] {}, [state, read](Graph* g) { state->answer = read(*g); }, {}, result};
  return {[&p, state, tiles = p.tiles(options)] { p.restore(state->A, state->B, tiles); },
          [state, solve](Graph* g) { state->answer = solve(*g, *state->A, *state->B); },
          {},
          result};
}

/// The table of methods: Tesela's, LAPACK's gelsd and gels, and cuSOLVER for real numbers. A
/// library's solution has no residual norms.
template <class T>
std::vector<Method<OlsProblem<T>, LeastSquares<T>>> ols_table();

/// The measured errors of a solution for the original A and B.
template <class T>
struct OlsErrors {
  typename kernels::NormalResidual<T>::Result residual;
  Measured backward;
};
template <class T>
OlsErrors<T> measure_ols(const OlsProblem<T>& problem, const std::string& method, const LeastSquares<T>& answer);

/// Checks the solution of a benchmark's peer and returns its backward error relative to the bound. Throws WrongResult
/// if it is above 1 or the rank is deficient.
template <class T>
double check_peer(const std::string& peer, const OlsProblem<T>& problem, const LeastSquares<T>& answer);

}  // namespace tesela::cli
