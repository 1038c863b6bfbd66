#pragma once

#include "tools/peers/harness.hpp"
#include <tesela/algorithms/eigen/eigen_matrices.hpp>
#include <tesela/runtime/runtime.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <cstdint>
#include <memory>
#include <string>

namespace tesela::bench {

/// A batch, and where it lives.
struct EigBatchCase {
  index_t n = 0, count = 0;
  bool vectors = false;
  SymmetricChoice kind = {};
  std::uint64_t seed = 1;  ///< of the first matrix
  bool on_device = false;  ///< A is on the GPUs before, and the results stay there
};

/// The matrices that the peers of a batch share, and what their results must satisfy.
template <class T>
class EigBatchData {
 public:
  EigBatchData(Runtime& runtime, const EigBatchCase& what);

  const EigBatchCase& what() const { return what_; }
  Runtime& runtime() const { return *runtime_; }
  /// n x (count n), matrix k in its columns k n …
  const HostMatrix<T>& original() const { return original_; }
  /// Page-locked host memory that holds A again after restore(), and such memory for the values. Not for data on the
  /// devices.
  T* a() const { return static_cast<T*>(a_->data()); }
  T* w() const { return static_cast<T*>(w_->data()); }
  void restore() const;

  /// Measures values, residuals and orthogonality of 256 matrices. Answers the largest error over its bound
  /// (eig_bounds); throws WrongResult where that is above 1. Without vectors x is not looked at.
  double check(const std::string& peer, const HostMatrix<T>& values, const HostMatrix<T>& x) const;
  /// Returns the error of the results in a() and w().
  double check(const std::string& peer) const;

 private:
  Runtime* runtime_;
  EigBatchCase what_;
  HostMatrix<T> original_;
  std::unique_ptr<HostBuffer> a_, w_;
};

extern template class EigBatchData<float>;
extern template class EigBatchData<double>;

/// The peers. A is put back before each run, outside the time; with data on the host every transfer is timed.
template <class T>
Peer graph_eig_batch(const EigBatchData<T>& data);
template <class T>
Peer lapack_eig_batch(const EigBatchData<T>& data);  ///< syevd, matrix by matrix, on all cores
template <class T>
Peer cusolver_eig_batch(const EigBatchData<T>& data);  ///< XsyevBatched on device 0

}  // namespace tesela::bench
