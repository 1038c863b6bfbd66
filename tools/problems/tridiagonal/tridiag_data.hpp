#pragma once

#include "tools/checks/tridiagonal_error.hpp"
#include <tesela/algorithms/tridiagonal/tridiagonal.hpp>
#include <tesela/codelets/tridiagonal/tridiagonal_fill.hpp>
#include <tesela/runtime/runtime.hpp>
#include <tesela/tiles/generator.hpp>

#include <algorithm>

namespace tesela::bench {

/// The problem, and the place of its data.
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

  double bound() const { return tridiagonal_bound<T>(what_.kind == kernels::TridiagonalKind::dominant); }

 private:
  Runtime* runtime_;
  TridiagCase what_;
};

extern template class TridiagData<float>;
extern template class TridiagData<double>;
extern template class TridiagData<std::complex<float>>;
extern template class TridiagData<std::complex<double>>;

}  // namespace tesela::bench
