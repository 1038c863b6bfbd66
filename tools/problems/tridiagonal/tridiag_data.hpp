#pragma once

#include <tesela/algorithms/tridiagonal/tridiagonal.hpp>
#include <tesela/codelets/tridiagonal/tridiagonal_fill.hpp>
#include <tesela/runtime/runtime.hpp>
#include <tesela/tiles/generator.hpp>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

namespace tesela::bench {

/// What is solved, and where it lives.
struct TridiagCase {
  index_t n = 0, batch = 1;
  index_t tiles = 1;  ///< of the rows of one system, of the systems of a batch
  kernels::TridiagonalKind kind = kernels::TridiagonalKind::dominant;
  std::uint64_t seed = 1;
  bool on_device = false;
  bool one_pass = false;  ///< as in TridiagonalOptions

  Shape shape(kernels::SystemsIn systems) const {
    return systems == kernels::SystemsIn::columns ? Shape{n, batch} : Shape{batch, n};
  }
  TileShape tile(kernels::SystemsIn systems) const {
    const index_t rows = batch == 1 ? std::max<index_t>(ceil_div(n, tiles), 1) : n;
    const index_t across = batch == 1 ? 1 : ceil_div(batch, tiles);
    return systems == kernels::SystemsIn::columns ? TileShape{rows, across} : TileShape{across, rows};
  }
};

/// The systems that the peers share, by formula: whoever needs an array generates it where it is wanted.
template <class T>
class TridiagData {
 public:
  TridiagData(Runtime& runtime, const TridiagCase& what) : runtime_(&runtime), what_(what) {}

  const TridiagCase& what() const { return what_; }
  Runtime& runtime() const { return *runtime_; }
  kernels::TridiagonalGenerator<T> bands() const { return {what_.kind, what_.n, what_.seed}; }
  Generator<T> b() const { return {Pattern::uniform, T(0), 0, ~what_.seed}; }

  /// Bytes that a solve must move: four arrays read, one written.
  double bytes() const {
    return 5.0 * static_cast<double>(sizeof(T)) * static_cast<double>(what_.n) * static_cast<double>(what_.batch);
  }

  /// ||A x - b|| / (||A|| ||x|| + ||b||), max norms, computed in double: the largest over all systems; NaN when X is
  /// not finite. X is in host memory, without gaps.
  double residual(kernels::SystemsIn systems, const T* x) const;

  /// What the residual may be: 1e-14 (single: 1e-6), ten times that unless the matrix is dominant.
  double bound() const {
    return (sizeof(T) == 4 ? 1e-6 : 1e-14) * (what_.kind == kernels::TridiagonalKind::dominant ? 1 : 10);
  }

 private:
  Runtime* runtime_;
  TridiagCase what_;
};

/// One way to solve all systems of a TridiagData. It keeps several copies of B, so that solves need not wait for one
/// another: `solves` of them.
template <class T>
class TridiagSolver {
 public:
  TridiagSolver(std::string name, kernels::SystemsIn systems, index_t solves)
      : name_(std::move(name)), systems_(systems), solves_(solves) {}
  virtual ~TridiagSolver() = default;
  TridiagSolver(const TridiagSolver&) = delete;
  TridiagSolver& operator=(const TridiagSolver&) = delete;

  const std::string& name() const { return name_; }
  kernels::SystemsIn systems() const { return systems_; }
  index_t solves() const { return solves_; }

  virtual bool uses_workers() const { return false; }        ///< StarPU's
  virtual void restore() = 0;                                ///< B, and whatever else solving overwrote
  virtual void start(index_t copy) = 0;                      ///< begins to solve with one copy of B
  virtual void wait() = 0;                                   ///< until all that was begun is done
  virtual void copy_solution(index_t copy, T* x) const = 0;  ///< to host memory

 private:
  std::string name_;
  kernels::SystemsIn systems_;
  index_t solves_;
};

template <class T>
using TridiagSolvers = std::vector<std::unique_ptr<TridiagSolver<T>>>;

extern template class TridiagData<float>;
extern template class TridiagData<double>;

}  // namespace tesela::bench
