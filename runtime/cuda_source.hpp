#pragma once

#include <tesela/runtime/cuda_context.hpp>

#include <array>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tesela {

/// A CUDA kernel in source code. NVIDIA's compiler library NVRTC, which the first launch loads, compiles it for each
/// GPU.
///
/// The source may use tesela::Tile<T>, a block with members data, rows, cols and ld, and operator()(i, j).
class CudaSource {
 public:
  /// name     of the __global__ function, or of an instance of its template: "scale<double>".
  /// options  of NVRTC, such as "--use_fast_math".
  CudaSource(std::string source, std::string name, std::vector<std::string> options = {});

  struct Size {
    std::array<unsigned, 3> grid{1, 1, 1};     ///< blocks
    std::array<unsigned, 3> block{256, 1, 1};  ///< threads of a block
    unsigned shared = 0;                       ///< dynamic shared memory in bytes
  };
  /// Launches the function on the context's stream; `parameters`: their addresses. Throws EnvironmentError without
  /// NVRTC or a CUDA driver, and with NVRTC's messages if it refuses the source.
  void launch(const CudaContext& context, const Size& size, std::span<void* const> parameters) const;

 private:
  struct State;
  std::shared_ptr<State> state_;
};

namespace detail {
/// Block of a tile, as tesela::Tile<T> in a CudaSource.
struct CudaTile {
  void* data;
  long long rows, cols, ld;
};
}  // namespace detail

}  // namespace tesela
