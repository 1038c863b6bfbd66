#pragma once

#include "tools/peers/harness.hpp"
#include <tesela/algorithms/least_squares/glm.hpp>
#include <tesela/tiles/generator.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <type_traits>

namespace tesela::bench {

/// What is solved, and where it lives.
struct GlmCase {
  index_t m = 0, n = 0, p = 0, rhs = 1;
  GlmTiles tiles = {};
  std::uint64_t seed = 1;
  bool on_device = false;  ///< the data generated on the GPUs
};

/// The model that the peers share: random A, B and b, p >= m - n.
template <class T>
class GlmData {
 public:
  GlmData(Runtime& runtime, const GlmCase& what);

  const GlmCase& what() const { return what_; }
  Runtime& runtime() const { return *runtime_; }
  /// Of A (0), B (1) and b (2).
  Generator<T> generator(int which) const {
    return {Pattern::uniform, T(0), shape(which).cols, what_.seed + static_cast<std::uint64_t>(which), what_.m};
  }
  const HostMatrix<T>& original(int which) const { return original_[which]; }
  Shape shape(int which) const { return {what_.m, which == 0 ? what_.n : which == 1 ? what_.p : what_.rhs}; }

  /// Page-locked host memory that holds A, B and b again after restore(); not for data on the devices.
  T* data(int which) const { return static_cast<T*>(work_[which]->data()); }
  void restore() const;

  /// ||b - A x - B u|| / (||A|| ||x|| + ||B|| ||u|| + ||b||) of a peer's answer over its bound, 5e-15 sqrt(max(m, p))
  /// (single: 5e-6), and how far ||u|| is from that of the first peer that was checked, over 1e-8 (1e-2): the larger of
  /// both. Throws WrongResult where that is above 1.
  double check(const std::string& peer, const HostMatrix<T>& x, const HostMatrix<T>& u) const;
  /// The same, p = m, of an x without its u, of which the norm is known: backward error of B^-1 [A b], to so many times
  /// the bound as B's condition number.
  double check_divided(const std::string& peer, const HostMatrix<T>& x, double u_norm, double condition) const;

 private:
  double bound() const {
    return std::is_same_v<T, float> ? 5e-6 : 5e-15 * std::sqrt(static_cast<double>(std::max(what_.m, what_.p)));
  }
  double share(const std::string& peer, double error, double bound, double norm) const;

  Runtime* runtime_;
  GlmCase what_;
  HostMatrix<T> original_[3];
  std::unique_ptr<HostBuffer> work_[3];
  mutable double u_norm_ = -1;
};

extern template class GlmData<float>;
extern template class GlmData<double>;

/// The peers. The data are put back before each run, outside the time; with data on the host all transfers are timed.
template <class T>
Peer tesela_glm(const std::string& name, GlmMethod method, const GlmData<T>& data);
/// gls_factor, p = m: B is in host memory always, and its transfers are timed.
template <class T>
Peer tesela_gls_factor(const std::string& name, const GlmData<T>& data);
template <class T>
Peer lapack_glm(const GlmData<T>& data);  ///< ggglm of OpenBLAS on all cores, a call for each right-hand side
/// geqrf, ormqr, the RQ as geqrf of the transpose, and trsm, on device 0: with the whole RQ, or with that of the rows
/// that A leaves alone.
template <class T>
Peer cusolver_glm(const std::string& name, bool whole, const GlmData<T>& data);

}  // namespace tesela::bench
