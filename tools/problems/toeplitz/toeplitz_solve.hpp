#pragma once

#include "tools/problems/method.hpp"
#include <tesela/algorithms/toeplitz/toeplitz_solve.hpp>

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tesela::cli {

/// The dense T - sigma I in host and in device memory, which the peers share: each run fills it again.
template <class T>
struct DenseToeplitz;

/// Bytes that methods may still allocate.
struct ToeplitzMemory {
  ToeplitzMemory();
  /// Throws EnvironmentError unless this many bytes are free.
  void take(bool on_device, double bytes);
  double host, device;
};

/// (T - sigma I) X = B in ordinary host memory.
template <class T>
struct ToeplitzSystem {
  HostMatrix<T> t, b;  ///< n x 1, n x k
  T sigma;
  Runtime* runtime = nullptr;                 ///< not for libraries
  std::optional<bool> verdict = {};           ///< as in ToeplitzSolveOptions; empty: only for `auto`
  std::optional<ToeplitzMemory> memory = {};  ///< bounds the sum of all solvers
  std::shared_ptr<DenseToeplitz<T>> dense = {};
  /// First row, n x 1, whose first number is not read; 0 x 0 for a symmetric real T.
  HostMatrix<T> row = {};
};

template <class T>
struct ToeplitzAnswer {
  std::shared_ptr<const HostMatrix<T>> x;
  std::string failure;      ///< the reason why X is no solution; empty if there is one
  ToeplitzSolution solved;  ///< by a method of toeplitz_solve
};

/// Returns the methods: toeplitz_methods(), from t and B to X; "NAME-again", further solves by an inverse or factors,
/// from B to X; and dense factorizations by LAPACK and cuSOLVER. For complex numbers solves_nonsymmetric,
/// gohberg-semencul, schur and lapack-cholesky.
template <class T>
std::vector<Method<ToeplitzSystem<T>, ToeplitzAnswer<T>>> toeplitz_solve_table();

/// Returns whether a method solves systems with ToeplitzSystem::row, real and complex ones.
bool solves_nonsymmetric(const std::string& method);

/// Returns the flops of a library's method.
double dense_solve_flops(const std::string& method, index_t n, index_t k, bool complex = false);

}  // namespace tesela::cli
