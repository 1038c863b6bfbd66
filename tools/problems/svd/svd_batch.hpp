#pragma once

#include "tools/problems/method.hpp"
#include <tesela/algorithms/svd/svd_batch.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace tesela::cli {

/// Matrices of one shape side by side, generated with seeds seed … seed + count - 1, or from a file.
template <class T>
struct SvdBatchProblem {
  Shape shape;  ///< of each
  index_t count = 0;
  SvdVectors vectors = SvdVectors::economic;
  std::string file;                ///< of A, m x (count n); empty: generated
  std::string random = "uniform";  ///< the text of --random
  double scale = 1;                ///< factor of generated matrices
  std::uint64_t seed = 1;
  Runtime* runtime = nullptr;
  bool resident = false;  ///< whether A is on a GPU before a run, and the results after it
  HostMatrix<T> a = {};   ///< m x (count n)

  /// Reads or generates A. Throws ArgumentError for a wrong kind.
  void load();
};

/// Returns the table of methods: Tesela's, LAPACK's gesdd matrix by matrix on all cores, and cuSOLVER's gesvdjBatched.
template <class T>
std::vector<Method<SvdBatchProblem<T>, SvdBatch<T>>> svd_batch_table();

/// Measures values, residuals and orthogonality of 256 matrices of a benchmark. Returns the largest error relative to
/// its bound (svd_bounds); throws WrongResult if it is above 1.
template <class T>
double check_peer(const std::string& peer, const SvdBatchProblem<T>& problem, const SvdBatch<T>& found);

}  // namespace tesela::cli
