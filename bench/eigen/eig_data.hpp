#pragma once

#include "bench/harness/harness.hpp"
#include <tesela/algorithms/eigen/eigen_matrices.hpp>
#include <tesela/algorithms/eigen/symmetric_eig.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tesela::bench {

/// What is solved, and where it lives.
struct EigCase {
  index_t n = 0;
  bool vectors = false;
  index_t part = 0;  ///< only the smallest so many eigenpairs; 0: all
  index_t band = 0, block = 0;
  bool on_device = false;  ///< A is on the GPUs before, and X stays there
  index_t wanted() const { return part > 0 ? part : n; }
};

/// The matrix that the peers of an eigenproblem share, and what their results must satisfy.
template <class T>
class EigData {
 public:
  EigData(Runtime& runtime, const EigCase& what, const SymmetricMatrix& matrix);

  const EigCase& what() const { return what_; }
  Runtime& runtime() const { return *runtime_; }
  const HostMatrix<T>& original() const { return original_; }
  /// Page-locked host memory that holds A again after restore(), and such memory for the vectors wanted. Not for data
  /// on the devices.
  T* a() const { return static_cast<T*>(a_->data()); }
  T* x() const { return x_ ? static_cast<T*>(x_->data()) : nullptr; }
  void restore() const;

  /// Compares the values with the closed form, or else with what reference() or LAPACK finds, and measures residual and
  /// orthogonality of the vectors where they are wanted (above n = 4096 on 64 of them). Answers the largest error over
  /// its bound (eig_bounds); throws WrongResult where that is above 1.
  double check(const std::string& peer, const std::vector<double>& values, const HostMatrix<T>& x) const;
  /// All eigenvalues, from elsewhere: for orders that LAPACK needs minutes for.
  std::function<std::vector<double>()> reference;

 private:
  Runtime* runtime_;
  EigCase what_;
  HostMatrix<T> original_;
  mutable std::optional<std::vector<double>> known_;
  std::unique_ptr<HostBuffer> a_, x_;
};

extern template class EigData<float>;
extern template class EigData<double>;

/// The peers. A is put back before each run, outside the time; with data on the host every transfer is timed.
template <class T>
Peer graph_eig(const EigData<T>& data, const std::string& name, EigMethod method);
template <class T>
Peer lapack_eig(const EigData<T>& data);  ///< syevd of OpenBLAS on all cores
/// On device 0: syevd, or of a part syevdx.
template <class T>
Peer cusolver_eig(const EigData<T>& data, const std::string& name, bool part);

}  // namespace tesela::bench
