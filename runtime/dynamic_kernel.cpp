#include <tesela/runtime/any_kernel.hpp>
#include <tesela/runtime/internal/dynamic_call.hpp>
#include <tesela/runtime/require.hpp>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <new>
#include <set>
#include <utility>

#if TESELA_HAVE_CUDA
#include <cuda_runtime.h>
#endif

namespace tesela {
namespace detail {
namespace {

/// Calls f with the blocks of StarPU's buffers.
template <class F>
void with_blocks(void** buffers, std::size_t count, F f) {
  std::array<DynamicBlock, 16> few;
  std::vector<DynamicBlock> many(count > few.size() ? count : 0);
  const std::span<DynamicBlock> blocks = many.empty() ? std::span(few).first(count) : std::span(many);
  for (std::size_t b = 0; b < count; ++b) {
    const TileMemory tile = tile_memory(buffers[b]);
    blocks[b] = {tile.data, tile.rows, tile.cols, tile.ld,
                 static_cast<const starpu_matrix_interface*>(buffers[b])->elemsize};
  }
  f(std::span<const DynamicBlock>(blocks));
}

void run_dynamic_on_core(void** buffers, void* packed) noexcept {
  const auto& call = *static_cast<const DynamicCall*>(packed);
  if (dropped(call.header)) return forget_timing();
  const DynamicKernel::Description& kernel = call.code->description;
  try {
    with_blocks(buffers, call.header.buffers, [&](std::span<const DynamicBlock> blocks) {
      const auto run = [&] { kernel.cpu(call.args, blocks); };
      checks_accesses() ? run_checked(run, {buffers, blocks.size()}, kernel.modes) : run();
    });
  } catch (...) {
    report_exception(kernel.name.c_str());
  }
}

void run_dynamic_on_gpu(void** buffers, void* packed) noexcept {
  const auto& call = *static_cast<const DynamicCall*>(packed);
  if (dropped(call.header)) return forget_timing();
  const DynamicKernel::Description& kernel = call.code->description;
  try {
    with_blocks(buffers, call.header.buffers, [&](std::span<const DynamicBlock> blocks) {
      CudaContext context(kernel.name.c_str());
      kernel.cuda(context, call.args, blocks);
      check_last_launch(context);
    });
  } catch (...) {
    report_exception(kernel.name.c_str());
  }
}

void zero_on_core(void** buffers, void*) noexcept {
  const auto* const m = static_cast<const starpu_matrix_interface*>(buffers[0]);
  auto* column = static_cast<std::byte*>(tile_memory(buffers[0]).data);
  for (std::uint32_t j = 0; j < m->ny; ++j, column += m->ld * m->elemsize) std::memset(column, 0, m->nx * m->elemsize);
}

#if TESELA_HAVE_CUDA
void zero_on_gpu(void** buffers, void*) noexcept {
  const auto* const m = static_cast<const starpu_matrix_interface*>(buffers[0]);
  const CudaContext context("zero");
  context.check(cudaMemset2DAsync(tile_memory(buffers[0]).data, m->ld * m->elemsize, 0, m->nx * m->elemsize, m->ny,
                                  context.stream()),
                "cudaMemset2DAsync");
}
#endif

/// Returns the codelet that sets a tile of any type to zero.
CodeletImpl& zero_codelet() {
  static constexpr std::array modes{Mode::out};
  static CodeletImpl& codelet = [&]() -> CodeletImpl& {
    CodeletSpec spec{"zero", "N6tesela", 0, &zero_on_core, nullptr, modes, false};
#if TESELA_HAVE_CUDA
    spec.cuda = &zero_on_gpu;
#endif
    return make_codelet(spec);
  }();
  return codelet;
}

/// Keeps an object until the program ends, since StarPU combines the copies of a reduction when it likes.
void keep(std::shared_ptr<const void> object) {
  static std::mutex mutex;
  static auto& all = *new std::set<std::shared_ptr<const void>>;
  const std::lock_guard lock(mutex);
  all.insert(std::move(object));
}

/// Returns the shapes; throws ArgumentError for a tile with elements of another size than the kernel's.
std::vector<Shape> checked_shapes(const AnyKernel& kernel, std::span<const AnyTile> tiles) {
  std::vector<Shape> shapes;
  for (std::size_t b = 0; b < tiles.size(); ++b) {
    const std::size_t wanted = kernel.element_sizes[std::min(b, kernel.modes.size() - 1)];
    if (tiles[b].element_size() != wanted)
      throw ArgumentError(
          "Graph::insert<" + std::string(kernel.name) + ">", "tile " + std::to_string(b),
          "its elements have " + std::to_string(tiles[b].element_size()) + " bytes, not " + std::to_string(wanted));
    shapes.push_back(tiles[b].shape());
  }
  return shapes;
}

void* allocated(std::size_t bytes) {
  void* const memory = std::malloc(bytes);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

/// A task of a kernel that C++ declares.
struct AnyTask {
  const AnyKernel& kernel;
  const void* args;
};

/// Returns a task's argument block, as pack_call<Args> does.
CallHeader* pack_any_call(const void* source) {
  const auto& [kernel, args] = *static_cast<const AnyTask*>(source);
  auto* const memory = static_cast<std::byte*>(allocated(kernel.call_size));
  auto* const call = ::new (memory) CallHeader{};
  std::memcpy(memory + kernel.args_offset, args, kernel.args_size);
  return call;
}

/// A task of another kernel.
struct DescribedTask {
  const std::shared_ptr<const DynamicCode>& code;
  const std::shared_ptr<const void>& args;
};

CallHeader* pack_dynamic_call(const void* source) {
  const auto& [code, args] = *static_cast<const DescribedTask*>(source);
  static_assert(alignof(DynamicCall) <= alignof(std::max_align_t));
  auto* const call = ::new (allocated(sizeof(DynamicCall))) DynamicCall{{}, code.get(), code, args.get(), args};
  return &call->header;
}

}  // namespace

void release_call(CallHeader& call) noexcept {
  if (call.codelet == nullptr || !call.codelet->is_dynamic()) return;
  auto& dynamic = reinterpret_cast<DynamicCall&>(call);
  dynamic.args_owner.reset();
  dynamic.owner.reset();
}

void DestroyCall::operator()(CallHeader* call) const noexcept {
  release_call(*call);
  std::free(call);
}

}  // namespace detail

DynamicKernel::DynamicKernel(Description description) {
  constexpr auto routine = "DynamicKernel";
  require(!description.name.empty(), routine, "name", "empty");
  require(description.cpu || description.cuda, routine, "cpu", "and cuda are empty: a kernel needs a variant");
  require((description.name + description.model).find('/') == std::string::npos, routine, "name", description.name,
          " or the model's: it must not have a '/', since StarPU names a file after the model");
  require(!description.has_list || !description.modes.empty(), routine, "modes", "empty: a list of tiles needs a mode");
  detail::CodeletSpec spec{description.name.c_str(), "", description.color, nullptr, nullptr, description.modes,
                           description.has_list};
  if (description.cpu) spec.cpu = &detail::run_dynamic_on_core;
  if (description.cuda && config::have_cuda) spec.cuda = &detail::run_dynamic_on_gpu;
  detail::CodeletImpl& codelet =
      detail::dynamic_codelet(spec, description.model.empty() ? description.name : description.model);
  code_ = std::make_shared<const detail::DynamicCode>(detail::DynamicCode{std::move(description), &codelet});
}

DynamicKernel DynamicKernel::of(const AnyKernel& kernel) {
  Description description{.name = kernel.name, .has_list = kernel.has_list};
  description.modes.assign(kernel.modes.begin(), kernel.modes.end());
  DynamicKernel made;
  made.code_ =
      std::make_shared<const detail::DynamicCode>(detail::DynamicCode{std::move(description), nullptr, &kernel});
  return made;
}

const DynamicKernel::Description& DynamicKernel::description() const { return code_->description; }

void Graph::insert(const DynamicKernel& kernel, std::span<const AnyTile> tiles, const DynamicTask& task) {
  const DynamicKernel::Description& d = kernel.code_->description;
  const std::size_t fixed = d.modes.size() - (d.has_list ? 1 : 0);
  if (tiles.size() < fixed || (tiles.size() > fixed && !d.has_list))
    throw ArgumentError(
        "Graph::insert<" + d.name + ">", "tiles",
        std::to_string(tiles.size()) + ": the kernel needs " + std::to_string(fixed) + (d.has_list ? " or more" : ""));
  std::vector<detail::Data*> data;
  data.reserve(tiles.size());
  for (const AnyTile& tile : tiles) data.push_back(&tile.data());
  if (const AnyKernel* const declared = kernel.code_->declared) {
    const std::vector<Shape> shapes = detail::checked_shapes(*declared, tiles);
    const void* const args = task.args.get();
    const double flops = declared->flops(args, shapes);
    const detail::AnyTask source{*declared, args};
    return insert({&declared->codelet(), &source, &detail::pack_any_call, declared->call_size, data, declared->modes,
                   flops, task.priority, declared->cost_key(args)});
  }
  const detail::DescribedTask source{kernel.code_, task.args};
  insert({kernel.code_->codelet, &source, &detail::pack_dynamic_call, sizeof(detail::DynamicCall), data, d.modes,
          task.flops, task.priority, task.cost_key});
}

void Graph::reduction(const AnyTile& tile, const DynamicKernel& add, const std::shared_ptr<const void>& args) {
  const DynamicKernel::Description& d = add.code_->description;
  require(d.modes == std::vector{Mode::commute, Mode::in} && !d.has_list, "Graph::reduction", "add",
          d.name + ": its first tile must be Commute, the sum, and its second In");
  require(add.code_->declared == nullptr, "Graph::reduction", "add", d.name + ": use reduction<Zero, Add>");
  detail::keep(add.code_);
  detail::keep(args);
  // Bytes without destructors: StarPU reads them until the tile ends.
  const detail::DynamicCall call{{add.code_->codelet, nullptr, 0, 2}, add.code_.get(), nullptr, args.get(), nullptr};
  std::vector<std::byte> bytes(sizeof call);
  std::memcpy(bytes.data(), static_cast<const void*>(&call), sizeof call);
  tile.data().set_reduction(detail::zero_codelet(), *add.code_->codelet, std::move(bytes));
}

}  // namespace tesela
