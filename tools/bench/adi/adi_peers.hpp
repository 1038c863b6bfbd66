#pragma once

#include "tools/problems/tridiagonal/tridiag_data.hpp"

#include <map>

namespace tesela::bench {

/// The heat equation on a square of n x n unknowns, zero around it, by Peaceman and Rachford's alternating directions.
/// A step is
///     v = (I + c dy²) u,  (I - c dx²) u = v,  v = (I + c dx²) u,  (I - c dy²) u = v,
/// x along columns and y along rows. All systems of a direction have the same matrix.
template <class T>
class AdiData {
 public:
  AdiData(Runtime& runtime, index_t n, index_t tiles, bool on_device);

  Runtime& runtime() const { return *runtime_; }
  index_t n() const { return n_; }
  bool on_device() const { return on_device_; }
  TileShape tile() const { return tile_; }
  T c() const { return c_; }
  const std::vector<T>& start() const { return start_; }  ///< a sum of sines, column-major

  /// Returns the largest distance of u from the exact result of the method after `steps` steps, over the bound for
  /// rounding.
  double error(const std::vector<T>& u, index_t steps) const;

  /// Returns the bytes that a step must move: two products and two solves, each reads and writes the square once.
  double bytes() const { return 8 * static_cast<double>(sizeof(T)) * static_cast<double>(n_ * n_); }

 private:
  std::vector<double> sum_of_waves(index_t steps) const;

  Runtime* runtime_;
  index_t n_;
  TileShape tile_;
  bool on_device_;
  T c_;
  std::vector<T> start_;
  mutable std::map<index_t, std::vector<double>> after_;
};

/// One way to go through the time steps.
template <class T>
class AdiProgram {
 public:
  explicit AdiProgram(std::string name) : name_(std::move(name)) {}
  virtual ~AdiProgram() = default;
  AdiProgram(const AdiProgram&) = delete;
  AdiProgram& operator=(const AdiProgram&) = delete;

  const std::string& name() const { return name_; }
  virtual bool uses_workers() const { return false; }  ///< StarPU's
  virtual void restart() = 0;                          ///< u is the start again
  virtual void advance(index_t steps) = 0;             ///< and waits until they are done
  virtual std::vector<T> u() const = 0;

 private:
  std::string name_;
};

/// tridiagonal_multiply and tridiagonal_solve on tiles.
template <class T>
std::unique_ptr<AdiProgram<T>> tesela_adi(const AdiData<T>& data);

/// The textbook's program on all cores: the matrix is eliminated once, without pivoting, and kept.
template <class T>
std::unique_ptr<AdiProgram<T>> thomas_adi(const AdiData<T>& data);

#if TESELA_HAVE_CUDA
/// Runs on device 0: our kernel for the products, cuSPARSE for the solves. In x "strided-A" calls gtsv2StridedBatch,
/// which needs a matrix for each system, and "rhs-A" gtsv2_nopivot with many right-hand sides of one matrix; in y both
/// call gtsvInterleavedBatch with algorithm A. It overwrites its matrices: a step includes writing them again.
template <class T>
std::unique_ptr<AdiProgram<T>> cusparse_adi(const AdiData<T>& data, const std::string& name);
#endif

extern template class AdiData<float>;
extern template class AdiData<double>;

}  // namespace tesela::bench
