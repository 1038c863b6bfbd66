#pragma once

#include "bench/harness/harness.hpp"
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
};

/// The matrix that a QR's peers share, and what its factors must satisfy.
template <class T>
class QrData {
 public:
  QrData(Runtime& runtime, const QrCase& what);

  const QrCase& what() const { return what_; }
  Runtime& runtime() const { return *runtime_; }
  Generator<T> generator() const { return {Pattern::uniform, T(0), what_.n, what_.seed, what_.m}; }

  /// A as generated, for every peer to begin with, on the host.
  const HostMatrix<T>& original() const { return original_; }
  /// Page-locked host memory that holds A again after restore(); not for data on the devices.
  T* a() const { return static_cast<T*>(work_->data()); }
  void restore() const;

  /// Checks factors that a peer left, the Householder vectors or whatever in its own way below R: multiply_q(C)
  /// replaces C by Q C. Answers the larger of both errors over its bound, 5e-15 sqrt(n) and 1e-13 sqrt(n) (single:
  /// 5e-6 and 1e-4); throws WrongResult where that is above 1.
  double check(const std::string& peer, const HostMatrix<T>& factors,
               const std::function<void(HostMatrix<T>&)>& multiply_q) const;

 private:
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
