#pragma once

#include "tools/peers/harness.hpp"
#include <tesela/algorithms/least_squares/least_squares.hpp>
#include <tesela/tiles/generator.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <memory>

namespace tesela::bench {

/// What is solved, and where it lives.
struct OlsCase {
  index_t m = 0, n = 0, rhs = 1;
  TileShape tile = {};
  OlsOptions options = {};
  std::uint64_t seed = 1;
  bool on_device = false;  ///< A and B generated on the GPUs, X taken from there
};

/// The problem that the peers share: random A and B, B's tiles as high as A's.
template <class T>
class OlsData {
 public:
  OlsData(Runtime& runtime, const OlsCase& what);

  const OlsCase& what() const { return what_; }
  Runtime& runtime() const { return *runtime_; }
  Generator<T> a_generator() const { return {Pattern::uniform, T(0), what_.n, what_.seed, what_.m}; }
  Generator<T> b_generator() const { return {Pattern::uniform, T(0), what_.rhs, what_.seed + 1, what_.m}; }

  /// Page-locked host memory that holds A and B again after restore(); not for data on the devices.
  T* a() const { return static_cast<T*>(work_a_->data()); }
  T* b() const { return static_cast<T*>(work_b_->data()); }
  void restore() const;
  const HostMatrix<T>& original_a() const { return a_; }
  const HostMatrix<T>& original_b() const { return b_; }

  /// ||A^T r|| / (||A|| (||A|| ||x|| + ||b||)) of a peer's X, n x rhs with leading dimension ld, over its bound, 5e-15
  /// sqrt(n) (single: 5e-6); throws WrongResult where that is above 1.
  double check(const std::string& peer, const T* x, index_t ld) const;

 private:
  Runtime* runtime_;
  OlsCase what_;
  HostMatrix<T> a_, b_;
  std::unique_ptr<HostBuffer> work_a_, work_b_;
};

extern template class OlsData<float>;
extern template class OlsData<double>;

/// The peers. A and B are put back before each run, outside the time; with data on the host all transfers are timed.
template <class T>
Peer tesela_ols(const OlsData<T>& data, const std::string& name = "tesela");
template <class T>
Peer lapack_ols(const OlsData<T>& data);  ///< gels of OpenBLAS on all cores
template <class T>
Peer cusolver_ols(const OlsData<T>& data);  ///< geqrf, ormqr and trsm on device 0

}  // namespace tesela::bench
