#pragma once

#include "tools/peers/cusolver_qr.hpp"
#include <tesela/algorithms/econometrics/simultaneous_equations.hpp>

#include <functional>
#include <vector>

// Peers: least squares problems with cuSOLVER's routines. Matrices in device memory have no gaps.
namespace tesela {

/// A general linear model: A = Q R, Q^T B = [B1; B2]; then factors [B2^T B1^T] (`whole`, as Ramiro Sánchez 2010,
/// section 5.2, except for the order of rows) or B2^T alone. Requires n <= m <= n + p and full rank.
template <class T>
class CusolverGlm {
 public:
  CusolverGlm(index_t m, index_t n, index_t p, index_t r, bool whole);

  T* data(int which) const { return which == 0 ? of_a_.a() : at(which == 1 ? b_ : y_); }  ///< A (0), B (1) and b (2)
  void upload(int which, const T* from) const;                                            ///< from host memory
  void solve(T* x, T* u) const;  ///< X, n x r, and U, p x r, in host memory; overwrites A, B and b

 private:
  static T* at(const cusolver::DeviceMemory& memory) { return memory.template as<T>(); }

  index_t m_, n_, p_, r_;
  bool whole_;
  CusolverQr<T> of_a_, of_b_;
  cusolver::DeviceMemory b_, y_, u_;
};

/// Least squares with equality constraints: A = Q R and Q^T b; C^T = P [S; 0]; S^T y1 = d; and y2 by a QR factorization
/// of the last columns of R P. Requires p < n <= m and full ranks.
template <class T>
class CusolverLse {
 public:
  CusolverLse(index_t m, index_t n, index_t p, index_t r);

  /// A (0), b (1), C (2) and d (3).
  T* data(int which) const { return which == 0 ? of_a_.a() : at(which == 1 ? b_ : which == 2 ? c_ : d_); }
  void upload(int which, const T* from) const;  ///< from host memory
  void solve(T* x) const;                       ///< X, n x r, in host memory; overwrites A, b, C and d

 private:
  static T* at(const cusolver::DeviceMemory& memory) { return memory.template as<T>(); }

  index_t m_, n_, p_, r_;
  CusolverQr<T> of_a_, of_c_, of_rest_;
  cusolver::DeviceMemory b_, c_, d_, identity_, product_, y_, left_;
};

}  // namespace tesela

namespace tesela::bench {

/// Returns a function that computes 2SLS by cuSOLVER on CUDA device 0, outside any graph, from data in host memory:
/// geqrf of all data, then for each equation geqrf of its dense columns, ormqr and a triangular solve. It returns every
/// equation's coefficients. Throws EnvironmentError without a CUDA device, in a build without CUDA and without enough
/// device memory. The arguments must outlive the function.
std::function<std::vector<std::vector<double>>()> cusolver_sem(const HostMatrix<double>& data,
                                                               const SimultaneousModel& model);

}  // namespace tesela::bench
