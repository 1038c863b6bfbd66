#pragma once

#include <tesela/runtime/runtime.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <memory>
#include <string>
#include <vector>

namespace tesela::bench {

/// (T - sigma I) X = B, in ordinary host memory.
template <class T>
struct ToeplitzSystem {
  Runtime& runtime;
  HostMatrix<T> t, b;  ///< n x 1, n x k
  T sigma;
};

/// One way to solve it.
template <class T>
class ToeplitzSolver {
 public:
  virtual ~ToeplitzSolver() = default;
  virtual bool uses_workers() const = 0;
  /// Restores the overwritten input, outside the measured time.
  virtual void restore() = 0;
  /// What is timed: from B in host memory to X there. Answers why there is no X, nothing where there is one.
  virtual std::string solve() = 0;
  /// X, n x k without gaps.
  virtual const T* x() const = 0;
};

/// All that have a name. "-again": the further solve with an inverse, or with factors, that are kept.
const std::vector<std::string>& toeplitz_solver_names();

/// The dense matrix, in host and in device memory, shared by the solvers of one system: each solve fills it again.
template <class T>
struct DenseMatrices;

/// Solvers of one system, by name.
template <class T>
class ToeplitzSolvers {
 public:
  explicit ToeplitzSolvers(const ToeplitzSystem<T>& system);
  ~ToeplitzSolvers();
  ToeplitzSolvers(const ToeplitzSolvers&) = delete;
  ToeplitzSolvers& operator=(const ToeplitzSolvers&) = delete;

  /// Makes a solver by name. Throws EnvironmentError if the free memory does not suffice for it.
  std::unique_ptr<ToeplitzSolver<T>> make(const std::string& name);

 private:
  void take(bool on_device, double bytes);

  const ToeplitzSystem<T>* system_;
  std::shared_ptr<DenseMatrices<T>> dense_;
  double host_left_, device_left_;                  ///< bytes
  bool host_taken_ = false, device_taken_ = false;  ///< for the dense matrix
};

}  // namespace tesela::bench
