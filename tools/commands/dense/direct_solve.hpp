#pragma once

#include "tools/app/command.hpp"
#include "tools/app/report.hpp"
#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/host_matrix.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <string>

namespace tesela::cli {

/// Options of the commands that factor one square matrix and solve systems with it.
struct DirectOptions {
  CommonOptions common;
  index_t n = -1, rhs = 0;
  std::string a, b, out, random, tile, by = "tiles";

  /// Adds the options. `kinds` lists the kinds of --random, `otherwise` is their default.
  void add_to(CLI::App& app, const char* kinds, const char* otherwise);
  /// Takes sizes from the files. Throws ArgumentError and FileError, of this command.
  void resolve(const char* command);
  nlohmann::json describe() const;
};

/// The right-hand sides: of the file, or uniform random numbers.
template <class T>
HostMatrix<T> load_b(const DirectOptions& o);

/// A factorization as a task graph.
template <class T>
class DirectMethod {
 public:
  virtual ~DirectMethod() = default;
  /// Returns A's tiles for the --tile option `wanted`, which may be empty.
  virtual TileShape tile(const Runtime& runtime, index_t n, const std::string& wanted) const = 0;
  /// Inserts it.
  virtual void factor(Graph& g, const TileMatrix<T>& A) = 0;
  /// Waits. Returns the row that stopped the factorization, from 1, or 0.
  virtual index_t stop() const = 0;
  /// Inserts X = A^-1 X, X in tiles of whole columns, or as high as A's.
  virtual void solve(Graph& g, const TileMatrix<T>& X) const = 0;
  virtual bool whole_columns() const = 0;
  /// Before the runtime ends.
  virtual void finish() = 0;
};

template <class T>
struct DirectResult {
  HostMatrix<T> factors, x;
  index_t stop = 0;
};

/// Factors, and solves where there are right-hand sides, as often as --repeat says, and reports times.
template <class T>
DirectResult<T> run_direct(const DirectOptions& o, DirectMethod<T>& method, const HostMatrix<T>& a,
                           const HostMatrix<T>& b, double flops, Report& report);

/// Reports `condition`, an estimate, and fails where its reciprocal is below eps: A is singular to working precision.
template <class T>
void check_condition(double condition, Report& report);

/// Checks and writes X.
template <class T>
void check_solution(const DirectOptions& o, const HostMatrix<T>& a, const HostMatrix<T>& b, const HostMatrix<T>& x,
                    double bound, Report& report);

}  // namespace tesela::cli
