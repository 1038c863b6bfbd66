#pragma once

#include "tools/checks/qr_error.hpp"
#include "tools/peers/harness.hpp"
#include <tesela/algorithms/qr/qr.hpp>
#include <tesela/tiles/generator.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <functional>
#include <memory>
#include <optional>

namespace tesela::bench {

/// What is factored, and where it lives.
struct QrCase {
  index_t m = 0, n = 0;
  TileShape tile = {};
  QrOptions options = {};
  std::uint64_t seed = 1;
  bool on_device = false;  ///< A generated on the GPUs, the factors left there
  /// Matrices of more elements are checked on a sample of columns: all of 32768 x 32768 on the host takes minutes.
  index_t checked_whole = index_t{1} << 27;
  static constexpr index_t sampled_columns = 16;
  bool sampled() const { return m * n > checked_whole && n > sampled_columns; }
};

/// What a check asks of a peer's factors, the Householder vectors or whatever in its own way below R.
template <class T>
struct QrFactors {
  /// Writes R's columns from `first` on into the block, m rows: what is on and above the diagonal, and anything below.
  std::function<void(index_t first, HostMatrix<T>& block)> read;
  std::function<void(HostMatrix<T>&)> multiply_q;  ///< replaces C by Q C
};

/// The matrix that a QR's peers share, and what its factors must satisfy.
template <class T>
class QrData {
 public:
  QrData(Runtime& runtime, const QrCase& what);

  const QrCase& what() const { return what_; }
  Runtime& runtime() const { return *runtime_; }
  Generator<T> generator() const { return {Pattern::uniform, T(0), what_.n, what_.seed, what_.m}; }

  /// A as generated, for every peer to begin with, on the host; not where it stays on the devices and is sampled.
  const HostMatrix<T>& original() const { return original_; }
  /// Page-locked host memory that holds A again after restore(); not for data on the devices.
  T* a() const { return static_cast<T*>(work_->data()); }
  void restore() const;

  /// Checks factors that a peer left. ||A - QR|| / ||A|| is estimated with random vectors, which see every element, or
  /// measured on four times four neighbouring columns, each in its quarter of A and the last ones of all, to which each
  /// step contributes, where A is `sampled`; ||I - Q^T Q|| is estimated with random vectors. Answers the larger of both
  /// errors over its bound, 5e-15 sqrt(n) and 1e-13 sqrt(n) (single: 5e-6 and 1e-4); throws WrongResult where that is
  /// above 1.
  double check(const std::string& peer, const QrFactors<T>& factors) const;
  double check(const std::string& peer, const HostMatrix<T>& factors,
               const std::function<void(HostMatrix<T>&)>& multiply_q) const;

 private:
  double judge(const std::string& peer, const QrSample<T>& sample, const HostMatrix<T>& a,
               const std::function<void(HostMatrix<T>&)>& multiply_q) const;
  Runtime* runtime_;
  QrCase what_;
  HostMatrix<T> original_;
  std::unique_ptr<HostBuffer> work_;
};

extern template class QrData<float>;
extern template class QrData<double>;

/// The peers. A is put back before each run, outside the time; with data on the host every transfer is timed.
template <class T>
Peer tesela_qr(const QrData<T>& data);
template <class T>
Peer lapack_qr(const QrData<T>& data);  ///< geqrf of OpenBLAS on all cores
template <class T>
Peer cusolver_qr(const QrData<T>& data);  ///< geqrf on device 0

}  // namespace tesela::bench
