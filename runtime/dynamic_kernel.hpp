#pragma once

#include <tesela/runtime/graph.hpp>

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tesela {

struct AnyKernel;
namespace detail {
struct DynamicCode;
}

/// A tile of any element type, as Graph::insert accepts it for a DynamicKernel.
class AnyTile {
 public:
  explicit AnyTile(detail::Data& data) : data_(&data) {}
  template <class T>
  AnyTile(const Tile<T>& tile) : data_(&tile.data()) {}

  Shape shape() const { return data_->shape(); }                      ///< rows and columns
  std::size_t element_size() const { return data_->element_size(); }  ///< bytes
  detail::Data& data() const { return *data_; }                       ///< the runtime's record of the tile

 private:
  detail::Data* data_;
};

/// A column-major block in the memory of the worker that runs a DynamicKernel.
struct DynamicBlock {
  void* data;                ///< element (0, 0)
  index_t rows;              ///< number of rows
  index_t cols;              ///< number of columns
  index_t ld;                ///< leading dimension
  std::size_t element_size;  ///< bytes
};

/// A kernel that is described at run time: its variants come from another language, or are compiled while the program
/// runs. A program that knows its kernels writes structs (see Kernel).
///
/// Copies refer to one kernel. Its variants live until the last copy and the last task of it have gone, so a program
/// may replace a kernel while tasks of the old one run.
class DynamicKernel {
 public:
  /// A variant. `args` is DynamicTask::args; the blocks have the order of the tiles. It may throw, as a Kernel's may.
  using Cpu = std::function<void(const void* args, std::span<const DynamicBlock> tiles)>;
  using Cuda = std::function<void(CudaContext&, const void* args, std::span<const DynamicBlock> tiles)>;

  struct Description {
    std::string name = {};         ///< in graphs, traces and statistics
    std::string model = {};        ///< its performance model (empty: the name); different code needs different ones
    std::uint32_t color = 0;       ///< 0xRRGGBB of its tasks in graphs and traces
    std::vector<Mode> modes = {};  ///< of the tiles
    bool has_list = false;         ///< the last mode is the mode of any number of tiles
    Cpu cpu = {};                  ///< empty: it does not run on cores
    Cuda cuda = {};                ///< empty: it does not run on GPUs
  };
  /// Throws ArgumentError without a name or a variant, and for a list without a mode.
  explicit DynamicKernel(Description description);
  /// Returns the object of a kernel that C++ declares (any_kernel.hpp), which must outlive it, for an interface of
  /// another language. DynamicTask::args are its Args, whose flops and cost key replace the task's.
  static DynamicKernel of(const AnyKernel& kernel);

  const Description& description() const;  ///< as the constructor received it

 private:
  friend class Graph;
  DynamicKernel() = default;
  std::shared_ptr<const detail::DynamicCode> code_;
};

/// One task of a DynamicKernel, other than its tiles.
struct DynamicTask {
  /// Passed to the variants. Released when the task has run or was dropped, on a thread of StarPU.
  std::shared_ptr<const void> args = nullptr;
  double flops = 0;
  Priority priority = {};
  std::uint64_t cost_key = 0;  ///< hash of the arguments that change the run time
};

}  // namespace tesela
