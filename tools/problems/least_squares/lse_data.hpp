#pragma once

#include "tools/problems/least_squares/ols.hpp"

namespace tesela::bench {

/// A and b of an OlsProblem with constraints C x = d, p of them, in host memory.
template <class T>
class LseData {
 public:
  /// Generates uniform matrices for p constraints.
  LseData(Runtime& runtime, Shape a, index_t rhs, index_t p, std::uint64_t seed, bool on_workers);

  cli::OlsProblem<T>& unconstrained() { return ols_; }
  const HostMatrix<T>& c() const { return c_; }
  const HostMatrix<T>& d() const { return d_; }

  /// ||C x - d|| / (||C|| ||x|| + ||d||) of a peer's answer over its bound, 5e-15 sqrt(n) (single: 5e-6), and how far
  /// ||x|| and ||A x - b|| are from those of the first peer that was checked, over 1e-8 (1e-2): the larger of both.
  /// Throws WrongResult where that is above 1.
  double check(const std::string& peer, const HostMatrix<T>& x) const;

 private:
  cli::OlsProblem<T> ols_;
  HostMatrix<T> c_, d_;
  mutable double x_norm_ = -1, residual_norm_ = -1;
};

extern template class LseData<float>;
extern template class LseData<double>;

/// The peers. A and b are put back before each run, outside the time; with data on the host all transfers are timed.
template <class T>
Peer tesela_lse(LseData<T>& data);
template <class T>
Peer lapack_lse(LseData<T>& data);  ///< gglse of OpenBLAS on all cores, a call for each right-hand side
template <class T>
Peer cusolver_lse(LseData<T>& data);  ///< geqrf, ormqr, trmm and trsm on device 0

}  // namespace tesela::bench
