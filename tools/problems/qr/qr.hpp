#pragma once

#include "tools/checks/qr_error.hpp"
#include "tools/peers/restored.hpp"
#include "tools/problems/method.hpp"
#include "tools/problems/qr/qr_method.hpp"
#include <tesela/runtime/runtime.hpp>
#include <tesela/tiles/generator.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace tesela::cli {

template <class T>
struct QrFactors;

/// A = Q R: the matrix, and the memory that its methods share.
template <class T>
struct QrProblem {
  QrMethod method;
  std::string tile;  ///< the text of --tile
  Shape shape;       ///< of A
  std::uint64_t seed = 1;
  Runtime* runtime = nullptr;  ///< null: only libraries run
  bool q_wanted = false;       ///< forming Q's first n columns is part of a timed run; by rotations all m columns
  index_t half_width = -1;     ///< elements farther from the diagonal are zero; negative: none
  HostMatrix<T> a = {};        ///< A, or this rank's part of it; empty if A is resident and sampled()
  HostMatrix<T> work = {};     ///< A in a run, then its factors; empty if A is resident
  bool in_parts = false;       ///< a and work are this rank's part
  HostMatrix<T> r = {};        ///< R of a method that forms Q in A's place, or R of a scaled A
  bool resident = false;       ///< A is generated where the workers keep its tiles, and its factors stay there
  /// A matrix of more elements is checked on a sample of its columns.
  index_t checked_whole = std::numeric_limits<index_t>::max();
  int exponent = 0;  ///< a run factors 2^-exponent A (range_exponent)
  std::optional<PinnedMemory> pinned = {};

  index_t order() const { return std::min(shape.rows, shape.cols); }
  bool sampled() const { return shape.rows * shape.cols > checked_whole && shape.cols > sampled_columns; }
  /// Generates a uniform A for a benchmark, in page-locked memory or where the workers keep its tiles.
  void generate_uniform(bool on_workers);
  Generator<T> generator() const {
    return {half_width < 0 ? Pattern::uniform : Pattern::band, T(0), shape.cols, seed, shape.rows, half_width};
  }
  /// Multiplies R by 2^exponent, in `r`.
  void unscale(QrFactors<T>& factors);
  /// Copies A into `work`, and divides it by 2^exponent.
  void restore();
  /// Restores A in tiles.
  void restore(bench::RestoredMatrix<T>& matrix, TileShape tiles);

  static constexpr index_t sampled_columns = 16;
};

/// The factors that a method computed.
template <class T>
struct QrFactors {
  HostMatrix<T>* r = nullptr;  ///< R is its upper trapezoid; null if the factors stay on the workers
  /// Copies columns of the factors from `first` on; set if r is null.
  std::function<void(index_t first, HostMatrix<T>& block)> read = {};
  /// Returns R C; set if r is null and R need not be read for its product with random vectors.
  std::function<HostMatrix<T>(const HostMatrix<T>& c)> multiply_r = {};
  /// C <- Q C for a C with `columns` columns on all ranks together.
  std::function<void(HostMatrix<T>& c, index_t columns)> multiply_q = {};
  /// Writes Q's first columns; not set: multiply_q forms them from the identity.
  std::function<void(HostMatrix<T>& q, index_t columns)> form_q = {};
  TileShape tile = {};
  nlohmann::json about = nlohmann::json::object();  ///< choices of the method, for reports
  std::optional<index_t> rotations = {};
  std::string failure = {};  ///< why there are no factors
};

/// The table of methods: tiles, rotations, orthogonalizations, LAPACK and cuSOLVER.
template <class T>
std::vector<Method<QrProblem<T>, QrFactors<T>>> qr_table();

/// Returns M C, which the workers compute where they keep M's tiles.
template <class T>
HostMatrix<T> product(Runtime& runtime, const TileMatrix<T>& M, const HostMatrix<T>& c);

/// Runs the rotations of these options. If Q is wanted, the graph multiplies the identity, in tiles of the rows that
/// --tile gives, by the rotations.
template <class T>
Solver<QrFactors<T>> by_rotations(QrProblem<T>& problem, const GivensOptions& options);

/// Returns min(m, n) if forming Q and checking all of it is quick, nothing otherwise.
std::optional<index_t> checked_columns(Shape a);

/// The check of factors. Construction needs the Runtime and forms Q or multiplies a sample by it; error() leaves the
/// cores to BLAS.
template <class T>
class QrCheck {
 public:
  /// Vectors of a random sample.
  static constexpr index_t vectors = 32;
  /// `columns` of Q are formed; without a value, Q's product with random vectors must do.
  QrCheck(const QrProblem<T>& problem, const QrFactors<T>& factors, std::optional<index_t> columns);

  QrError error() const;
  bool sampled() const { return sample_.has_value() || of_parts_.has_value(); }
  /// The columns of Q, or this rank's part of them; the product if they are not formed.
  HostMatrix<T>& q() { return q_; }

 private:
  void sample_columns(const QrProblem<T>& problem, const QrFactors<T>& factors);
  const HostMatrix<T>* a_;
  const HostMatrix<T>* r_;
  HostMatrix<T> columns_, read_, q_;
  std::optional<QrSample<T>> sample_;
  std::optional<QrError> of_parts_;  // of several ranks
};

/// Checks the factors of a benchmark's peer, R alone if it has no Q, and returns the larger error relative to its
/// bound. Throws WrongResult if it is above 1.
template <class T>
double check_peer(const std::string& peer, const QrProblem<T>& problem, const QrFactors<T>& factors);

}  // namespace tesela::cli
