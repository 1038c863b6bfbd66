#pragma once

#include "tools/checks/eig_error.hpp"
#include "tools/peers/harness.hpp"
#include <tesela/algorithms/eigen/eigen_matrices.hpp>
#include <tesela/algorithms/eigen/symmetric_eig.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tesela::bench {

/// The problem, and the place of its data.
struct EigCase {
  index_t n = 0;
  bool vectors = false;
  index_t part = 0;  ///< number of the smallest eigenpairs to compute; 0: all
  index_t band = 0, block = 0;
  bool on_device = false;  ///< A is on the GPUs before, and X stays there
  bool check = true;       ///< else nothing is kept that checks alone need
  index_t whole = 4096;    ///< beyond this order LAPACK is no reference, and vectors are measured on a sample
  index_t wanted() const { return part > 0 ? part : n; }
};

/// The matrix that the peers of an eigenproblem share, and what their results must satisfy.
///
/// Above the order `whole`, a matrix that the devices can generate (SymmetricMatrix::generator) is never on the host
/// and is generated again whenever needed, so that a large problem needs the devices' memory alone.
template <class T>
class EigData {
 public:
  EigData(Runtime& runtime, const EigCase& what, const SymmetricMatrix& matrix);

  const EigCase& what() const { return what_; }
  Runtime& runtime() const { return *runtime_; }
  const std::optional<Generator<T>>& generator() const { return generator_; }
  /// Where there is no generator.
  const HostMatrix<T>& original() const { return original_; }
  /// Page-locked host memory that holds A again after restore(), and such memory for the vectors wanted. Not for data
  /// on the devices.
  T* a() const { return static_cast<T*>(a_->data()); }
  T* x() const { return x_ ? static_cast<T*>(x_->data()) : nullptr; }
  void restore() const;

  /// Compares the values with the closed form, with LAPACK's up to that order, or with the first checked peer's;
  /// compares the sum of all values and of their squares with A's elements; and measures residual and orthogonality of
  /// the vectors if they are computed (above that order on 64 of them, on the devices on 16). Returns the largest error
  /// over its bound (eig_bounds); throws WrongResult if that is above 1.
  double check(const std::string& peer, const std::vector<double>& values, const HostMatrix<T>& x) const;
  /// The same for vectors in tiles of whole columns, which stay there where A has a generator.
  double check(const std::string& peer, const std::vector<double>& values, const TileMatrix<T>& X) const;
  const Moments& moments() const { return moments_; }
  /// Answers it where it is at most 1, and throws WrongResult else.
  double at_most_one(const std::string& peer, double error) const;

  /// A Y for a few columns Y.
  HostMatrix<double> times(const HostMatrix<double>& y) const;

 private:
  double norm(const std::vector<double>& values) const;
  double error_of(const std::vector<double>& values, double norm) const;
  double finish(const std::string& peer, const std::vector<double>& values, double error) const;

  Runtime* runtime_;
  EigCase what_;
  std::optional<Generator<T>> generator_;
  HostMatrix<T> original_;
  Moments moments_;
  mutable std::optional<std::vector<double>> known_;
  std::unique_ptr<HostBuffer> a_, x_;
};

extern template class EigData<float>;
extern template class EigData<double>;

/// The peers. A is put back before each run, outside the time; with data on the host every transfer is timed.
template <class T>
Peer graph_eig(const EigData<T>& data, const std::string& name, EigMethod method);
template <class T>
Peer graph_band(const EigData<T>& data, const std::string& name);  ///< the reduction to a band alone
template <class T>
Peer lapack_eig(const EigData<T>& data);  ///< syevd of OpenBLAS on all cores
/// On device 0: syevd, or of a part syevdx.
template <class T>
Peer cusolver_eig(const EigData<T>& data, const std::string& name, bool part);

}  // namespace tesela::bench
