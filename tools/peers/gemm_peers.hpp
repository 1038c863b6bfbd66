#pragma once

#include "tools/peers/device.hpp"
#include <tesela/tiles/tile_matrix.hpp>

#include <functional>

namespace tesela::bench {

/// Computes C = A B by the graph of gemm(), written with starpu_task_insert; waits. If C is mapped, its tiles go to the
/// host as soon as they are final.
template <class T>
void starpu_gemm(const TileMatrix<T>& A, const TileMatrix<T>& B, const TileMatrix<T>& C);

/// Returns an element of a tile from the place where it is valid, without moving the tile.
template <class T>
T element(const Tile<T>& tile, index_t i, index_t j);

/// C = A B by one call of cuBLAS on device 0; A is m x k, B k x n. Matrices have no gaps.
template <class T>
class CublasGemm {
 public:
  CublasGemm(index_t m, index_t n, index_t k);
  T* a() const { return a_.template as<T>(); }
  T* b() const { return b_.template as<T>(); }
  void upload(const T* a, const T* b) const;
  void multiply() const;  ///< waits
  void download(T* c) const;
  void poison() const;  ///< sets C to NaN
  T element(index_t i, index_t j) const;

 private:
  index_t m_, n_, k_;
  DeviceMemory a_, b_, c_;
};

/// C = A B by cublasXt on several devices; matrices in host memory, without gaps.
template <class T>
class CublasXtGemm {
 public:
  CublasXtGemm(int devices, index_t m, index_t n, index_t k);
  ~CublasXtGemm();
  CublasXtGemm(const CublasXtGemm&) = delete;
  CublasXtGemm& operator=(const CublasXtGemm&) = delete;
  /// Keeps the fastest of three block sizes, each run twice.
  void choose_block(const std::function<void()>& run) const;
  void multiply(const T* a, const T* b, T* c) const;

 private:
  index_t m_, n_, k_;
  void* handle_ = nullptr;
};

}  // namespace tesela::bench
