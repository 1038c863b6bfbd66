#pragma once

#include "tools/peers/harness.hpp"
#include <tesela/algorithms/dense/gemm.hpp>
#include <tesela/tiles/generator.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace tesela::bench {

/// The product C = A B, and the place of its data.
struct GemmCase {
  index_t m = 0, n = 0, k = 0;
  GemmTile tile;
  std::uint64_t seed = 1;
  bool on_device = false;                                    ///< operands generated on the GPUs, results left there
  kernels::GemmKernel kernel = kernels::GemmKernel::cublas;  ///< what our graph's tasks run on GPUs
  double flops() const { return 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k); }
};

/// The generators of A and B.
template <class T>
Generator<T> gemm_operand(const GemmCase& what, bool is_b) {
  return {Pattern::uniform, T(0), is_b ? what.n : what.k, 2 * what.seed + (is_b ? 1 : 0)};
}

/// The operands that a gemm's peers share: in page-locked host memory, or as tiles on the devices.
template <class T>
class GemmData {
 public:
  struct Tiles {
    TileMatrix<T> A, B, C;
  };

  /// Generates A and B. `needs_tiles` is false when no peer works on tiles: nothing is then put on the devices.
  GemmData(Runtime& runtime, const GemmCase& what, bool needs_tiles);

  const GemmCase& what() const { return what_; }
  Runtime& runtime() const { return *runtime_; }

  /// In host memory, column-major without gaps; null when the data is on the devices.
  const T* a() const { return static_cast<const T*>(a_->data()); }
  const T* b() const { return static_cast<const T*>(b_->data()); }
  T* c() const { return static_cast<T*>(c_->data()); }

  /// Returns the operands cut into tiles. In host memory they are registered again, so that no device has a copy from
  /// the run before.
  Tiles tiles() const;

  /// A peer's verification: poisons C with NaN, runs, compares sampled entries of C; answers the largest error over
  /// its bound.
  double verify(const std::string& peer, const std::function<void()>& run) const;

  /// The same for a C that the peer holds itself.
  double check(const std::string& peer, const std::function<T(index_t, index_t)>& c) const;

 private:
  Runtime* runtime_;
  GemmCase what_;
  std::unique_ptr<HostBuffer> a_, b_, c_;
  std::optional<Tiles> tiles_;
};

extern template class GemmData<float>;
extern template class GemmData<double>;

/// The peers. Their times include submission, and with data on the host every transfer.
template <class T>
Peer tesela_gemm(const GemmData<T>& data);
template <class T>
Peer starpu_gemm(const GemmData<T>& data);  ///< the same graph by starpu_task_insert
template <class T>
Peer openblas_gemm(const GemmData<T>& data);
template <class T>
Peer cublas_gemm(const GemmData<T>& data);  ///< one call on one device
template <class T>
Peer cublasxt_gemm(const GemmData<T>& data);

}  // namespace tesela::bench
