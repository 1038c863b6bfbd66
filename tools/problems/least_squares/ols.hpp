#pragma once

#include "tools/peers/restored.hpp"
#include "tools/problems/method.hpp"
#include "tools/problems/qr/qr_method.hpp"
#include <tesela/algorithms/least_squares/least_squares.hpp>
#include <tesela/host/normal_residual.hpp>
#include <tesela/runtime/runtime.hpp>
#include <tesela/tiles/generator.hpp>
#include <tesela/tiles/host_matrix.hpp>
#include <tesela/tiles/io/matrix_rows.hpp>

#include <nlohmann/json.hpp>

#include <memory>
#include <string>
#include <vector>

namespace tesela::cli {

/// Replaces "auto" by tiles if an option of tiles alone is given.
void settle_automatic(QrMethod& method);

/// Throws ArgumentError unless it is in [0, 1).
void require_rcond(const char* command, double rcond);

/// Returns the options of a method that ols_methods() or givens_methods() names, for an A of this shape and r
/// right-hand sides. The method is never automatic; for a library it is Tesela's method for the shape, which checks the
/// library's result.
OlsOptions ols_options(const QrMethod& method, double rcond, Shape a, index_t r);
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
  std::unique_ptr<MatrixRows<T>> rows = {};  ///< an A that stays in its file
  HostMatrix<T> work_a = {}, work_b = {};    ///< A and B in a run; work_b has max(m, n) rows
  bool resident = false;                     ///< A and B are generated where the workers keep their tiles
  bool keep_triangle = false;                ///< as OlsOptions::keep_triangle
  const char* command = "ols";               ///< in messages
  std::vector<PinnedMemory> pinned = {};

  /// Generates uniform A and B for a benchmark, in page-locked memory or where the workers keep their tiles.
  void generate_uniform(bool on_workers);
  Generator<T> a_generator() const { return {Pattern::uniform, T(0), shape.cols, seed, shape.rows}; }
  Generator<T> b_generator() const { return {Pattern::uniform, T(0), rhs, seed + 1, shape.rows}; }
  /// Returns the options of the row of this name, and A's tiles for them.
  OlsOptions options(const std::string& name) const;
  TileShape tiles(const OlsOptions& options) const;
  void allocate();
  /// Copies A and B into work_a and work_b, with zeros below B.
  void restore();
  /// Restores A and B in tiles.
  void restore(bench::RestoredMatrix<T>& A, bench::RestoredMatrix<T>& B, TileShape tiles);
};

/// The table of methods: Tesela's, LAPACK's gelsd and gels, and cuSOLVER. A library's solution has no residual norms.
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
