#pragma once

#include "tools/checks/eig_error.hpp"
#include "tools/problems/eigen/eig_input.hpp"
#include "tools/problems/method.hpp"
#include <tesela/algorithms/eigen/eig_batch.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace tesela::cli {

/// Symmetric or Hermitian matrices of one order side by side, generated with seeds seed … seed + count - 1, or from a
/// file.
template <class T>
struct EigBatchProblem {
  EigInput input;
  index_t count = 0;
  bool vectors = false;
  std::uint64_t seed = 1;
  Runtime* runtime = nullptr;
  bool resident = false;                ///< the workers keep A and the results
  HostMatrix<T> a = {};                 ///< n x (count n)
  HostMatrix<T> work = {};              ///< A in a run, then the vectors
  HostMatrix<real_t<T>> values = {};    ///< n x count
  std::vector<std::string> notes = {};  ///< on the file
  std::vector<PinnedMemory> pinned = {};

  index_t n() const { return input.n; }
  /// Reads or generates A, and allocates memory for runs.
  void load();
  void pin();      ///< makes this memory page-locked for a benchmark, whose transfers are timed
  void restore();  ///< copies A into `work`
};

/// The results of a method; without vectors, `vectors` is arbitrary.
template <class T>
struct EigBatchFound {
  EigBatchResult result = {};
  HostMatrix<real_t<T>> values = {};
  HostMatrix<T> vectors = {};
};

/// Returns the table of methods: Tesela's, LAPACK's syevd matrix by matrix on all cores, and cuSOLVER's XsyevBatched.
template <class T>
std::vector<Method<EigBatchProblem<T>, EigBatchFound<T>>> eig_batch_table();

/// Measures values, residuals and orthogonality of 256 matrices of a benchmark. Returns the largest error relative to
/// its bound (eig_bounds); throws WrongResult if it is above 1.
template <class T>
double check_peer(const std::string& peer, const EigBatchProblem<T>& problem, const EigBatchFound<T>& found);

}  // namespace tesela::cli
