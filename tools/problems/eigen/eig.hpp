#pragma once

#include "tools/checks/eig_error.hpp"
#include "tools/peers/restored.hpp"
#include "tools/problems/eigen/eig_input.hpp"
#include "tools/problems/method.hpp"
#include <tesela/runtime/runtime.hpp>
#include <tesela/tiles/generator.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tesela::cli {

/// A X = X diag(values) with a symmetric or Hermitian A, or a generalized problem: the matrices, and the memory that
/// its methods share.
template <class T>
struct EigProblem {
  EigInput input;
  SymmetricEigOptions options = {};  ///< vectors, selection, band and block
  IterationChoice iteration = {};
  std::uint64_t seed = 1;
  Runtime* runtime = nullptr;    ///< null: only libraries run
  bool resident = false;         ///< the workers keep the matrices and the vectors
  index_t whole = 4096;          ///< largest order of LAPACK's reference; above it a sample of the vectors is checked
  HostMatrix<T> a = {}, b = {};  ///< full; A is 0 x 0 if `generator` is set, or for a tridiagonal input
  std::optional<Generator<T>> generator = {};           ///< of a resident A above the order `whole`
  std::vector<T> d = {}, e = {};                        ///< of a tridiagonal input
  std::optional<std::vector<double>> eigenvalues = {};  ///< known ones, ascending
  std::vector<std::string> notes = {};                  ///< on the files, for the report
  HostMatrix<T> work = {}, work_b = {};                 ///< A and B in a run
  HostMatrix<T> x = {};                                 ///< memory to which a timed run brings its vectors, if any
  std::vector<PinnedMemory> pinned = {};
  std::optional<Moments> known_moments = {};  ///< A's, once they are computed

  index_t n() const { return input.n; }
  index_t wanted() const { return options.positions ? options.positions->size() : n(); }
  GeneralizedKind kind() const;
  /// Reads or generates the matrices; `dense`: also all of a tridiagonal matrix. Throws ArgumentError as
  /// read_symmetric(), and if T does not hold --scale.
  void load(bool dense = true);
  /// Allocates page-locked memory for a benchmark's runs, whose transfers are timed.
  void pin();
  /// Returns A, or B, with its original elements in tiles.
  void restore(bench::RestoredMatrix<T>& tiles, const HostMatrix<T>& original, HostMatrix<T>& copy, TileShape tile);
  /// Returns the largest sum of |A(i, j)| in a row, which no eigenvalue exceeds (Gershgorin).
  double largest_row_sum() const;
  /// Returns A Y for a few columns Y.
  HostMatrix<double> times(const HostMatrix<double>& y) const;
  /// Returns the trace and the norm of A, from its elements.
  const Moments& moments();
};

/// The eigenpairs that a method found.
template <class T>
struct EigFound {
  SymmetricEig<T> eig = {};
  HostMatrix<T> vectors = {};                ///< n x values.size()
  std::optional<TileMatrix<T>> X = {};       ///< vectors that stay on the workers because A has a generator
  std::optional<IterationFacts> facts = {};  ///< of an iteration
};

/// The methods of a command, or of a benchmark, where LAPACK is a peer.
enum class EigRows : std::uint8_t { command, bench };

/// Returns the table of methods: Tesela's, the classical iterations, LAPACK and cuSOLVER; for complex numbers Tesela's,
/// and in a benchmark the libraries'.
template <class T>
std::vector<Method<EigProblem<T>, EigFound<T>>> eig_table(EigRows rows);

/// Returns the flops that LAPACK counts for `found` vectors, whatever a method really does.
double eig_flops(index_t n, bool vectors, index_t found);

/// Measured errors with their bounds; unset if they were not measured.
struct EigErrors {
  std::optional<Measured> value, trace, residual, orthogonality;
  std::optional<Measured> remaining, frobenius;  ///< of an iteration
  std::optional<index_t> sampled;                ///< number of the checked vectors, if not all
  std::optional<double> condition;               ///< of B
  std::string failure;                           ///< why the result is useless whatever its errors are

  /// Calls report(name, measured) for each measured error.
  template <class F>
  void for_each(const F& report) const {
    const auto measured = [&](const char* name, const std::optional<Measured>& error) {
      if (error) report(name, *error);
    };
    measured("remaining", remaining);
    measured("max_error", value);
    measured("trace_drift", trace);
    measured("frobenius_drift", frobenius);
    measured("max_residual", residual);
    measured("orthogonality", orthogonality);
  }
};

/// Measures a result: values against known ones or, up to the order `whole`, LAPACK's, if `compare`; the sum of all
/// values against A's trace; residual and orthogonality of the vectors, above that order on 64 of them, or on 16 where
/// the workers keep them.
template <class T>
EigErrors eig_errors(EigProblem<T>& problem, const EigFound<T>& found, bool compare);

/// Checks a benchmark's result, and also the sum of the values' squares against A's norm. Returns the largest error
/// relative to its bound; throws WrongResult if it is above 1. The first checked result's values become known ones.
template <class T>
double check_peer(const std::string& peer, EigProblem<T>& problem, const EigFound<T>& found);

/// Returns "overflow: …" if a value is beyond the largest number of the precision, otherwise an empty string.
std::string overflow_of(const std::vector<double>& values, double largest);

}  // namespace tesela::cli
