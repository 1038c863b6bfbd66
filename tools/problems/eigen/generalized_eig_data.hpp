#pragma once

#include "tools/peers/harness.hpp"
#include <tesela/algorithms/eigen/eigen_matrices.hpp>
#include <tesela/algorithms/eigen/generalized_eig.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tesela::bench {

/// The problem, A x = lambda B x with all eigenvalues, and the place of its data.
struct GeneralizedEigCase {
  index_t n = 0;
  bool vectors = false;
  index_t band = 0, block = 0;
  bool on_device = false;  ///< A and B are on the GPUs before, and X stays there
};

/// The pair that the peers share, and what their results must satisfy.
template <class T>
class GeneralizedEigData {
 public:
  GeneralizedEigData(Runtime& runtime, const GeneralizedEigCase& what, const SymmetricMatrix& a,
                     const SymmetricMatrix& b);

  const GeneralizedEigCase& what() const { return what_; }
  Runtime& runtime() const { return *runtime_; }
  const HostMatrix<T>& original_a() const { return original_a_; }
  const HostMatrix<T>& original_b() const { return original_b_; }
  /// Page-locked host memory that holds A and B again after restore(), and such memory for the vectors. Not for data on
  /// the devices.
  T* a() const { return static_cast<T*>(a_->data()); }
  T* b() const { return static_cast<T*>(b_->data()); }
  T* x() const { return x_ ? static_cast<T*>(x_->data()) : nullptr; }
  void restore() const;

  /// Measures residual and orthogonality in B's norm if vectors are computed (above n = 4096 on 16 of them), and
  /// compares the values with LAPACK's (sygvd) up to that order, above it with the first checked peer's. Returns the
  /// largest error over its bound; throws WrongResult if that is above 1.
  double check(const std::string& peer, const std::vector<double>& values, const HostMatrix<T>& x) const;

 private:
  Runtime* runtime_;
  GeneralizedEigCase what_;
  HostMatrix<T> original_a_, original_b_;
  mutable std::optional<std::vector<double>> known_;
  std::unique_ptr<HostBuffer> a_, b_, x_;
};

extern template class GeneralizedEigData<float>;
extern template class GeneralizedEigData<double>;

/// The peers. A and B are put back before each run, outside the time; with data on the host every transfer is timed.
template <class T>
Peer graph_generalized_eig(const GeneralizedEigData<T>& data, const std::string& name, EigMethod method);
template <class T>
Peer lapack_generalized_eig(const GeneralizedEigData<T>& data);  ///< sygvd of OpenBLAS on all cores
template <class T>
Peer cusolver_generalized_eig(const GeneralizedEigData<T>& data);  ///< sygvd on device 0

}  // namespace tesela::bench
