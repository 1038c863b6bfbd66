#pragma once

#include "interfaces/python/tiles.hpp"
#include <tesela/runtime/cuda_source.hpp>
#include <tesela/runtime/dynamic_kernel.hpp>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

// Calls of the variants of kernels that Python code describes, on StarPU's threads.

namespace tesela::python {

/// Owns a reference that a worker's thread may give up.
class Kept {
 public:
  Kept() = default;
  explicit Kept(nb::handle object) : object_(object.ptr()) { Py_XINCREF(object_); }
  Kept(Kept&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  Kept& operator=(Kept&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~Kept() { discard(object_); }
  PyObject* get() const { return object_; }

 private:
  PyObject* object_ = nullptr;
};

/// Signature of compiled variants on cores.
///
/// tiles   addresses of the first elements.
/// shapes  rows, columns and leading dimension of each tile.
/// values  of the keyword arguments, in the order of their declaration.
using Compiled = void (*)(void* const* tiles, const std::int64_t* shapes, const double* values);

/// A kernel's variants and signature.
struct Code {
  std::string name;
  std::vector<Mode> modes;
  bool has_list;
  Kept cpu, names;                  // a Python function or the owner of a compiled one, names of keyword arguments
  Kept cuda;                        // function(stream, blocks, values) of _kernels.py
  Compiled compiled;                // null, or the variant on cores
  std::vector<CudaSource> sources;  // empty, or the variant on GPUs for each Element of the first tile
  CudaSource::Size size;
  std::atomic<bool> warned{false};

  Mode mode_of(std::size_t b) const { return modes[std::min(b, modes.size() - 1)]; }
};

/// A task's arguments.
struct Values {
  std::shared_ptr<KernelException> exception;
  Kept tiles;   // a tuple, or null for compiled variants and for the combination of a reduction
  Kept values;  // a tuple, or null without keyword arguments
  std::vector<double> numbers;
  Element first = Element::float64;  // of the first tile, or of all tiles if `tiles` is null
  std::array<unsigned, 3> grid{};    // of a CUDA source
};

/// Call a Python function with the GIL, and arrays in the memory of the tiles. They throw if it raises, after they have
/// kept the exception for Graph.wait.
void run_python(Code& code, const Values& task, std::span<const DynamicBlock> blocks);
void run_python_on_gpu(const Code& code, CudaContext& context, const Values& task,
                       std::span<const DynamicBlock> blocks);
/// Call compiled variants without the GIL.
void run_compiled(const Code& code, const Values& task, std::span<const DynamicBlock> blocks);
void launch_source(const Code& code, const CudaContext& context, const Values& task,
                   std::span<const DynamicBlock> blocks);

/// Adds a class for the memory of tiles to the module, before the first call.
void prepare_calls(nb::module_& module);

}  // namespace tesela::python
