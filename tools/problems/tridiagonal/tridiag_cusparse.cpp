#include "tools/problems/tridiagonal/tridiag_methods.hpp"

#if TESELA_HAVE_CUDA

#include "tools/peers/cusparse.hpp"
#include "tools/peers/device.hpp"
#include <tesela/codelets/support/internal/cublas.hpp>

namespace tesela::bench {

using namespace kernels;

/// The arrays of a layout in the memory of device 0: B in several copies, and the bands too if they are overwritten.
template <class T>
class DeviceSystems {
 public:
  DeviceSystems(const TridiagData<T>& data, SystemsIn systems, index_t copies, index_t band_copies)
      : data_(&data), systems_(systems), shape_(data.what().shape(systems)) {
    for (index_t c = 0; c < 3 * band_copies; ++c) bands_.push_back(allocate());
    for (index_t c = 0; c < copies; ++c) b_.push_back(allocate());
    restore_bands();
  }

  TridiagonalRow<T*> bands(index_t copy) const {
    const std::size_t first = 3 * static_cast<std::size_t>(copy) % bands_.size();
    return {bands_[first]->template as<T>(), bands_[first + 1]->template as<T>(), bands_[first + 2]->template as<T>()};
  }
  T* b(index_t copy) const { return b_[static_cast<std::size_t>(copy)]->template as<T>(); }
  const CusparseStream& stream() const { return stream_; }
  std::size_t bytes() const { return static_cast<std::size_t>(shape_.rows * shape_.cols) * sizeof(T); }

  void restore_b() const {
    for (const auto& copy : b_) generate(copy->template as<T>(), shape_.rows, shape_.cols, data_->b());
  }
  void restore_bands() const {
    for (index_t c = 0; 3 * c < static_cast<index_t>(bands_.size()); ++c)
      generate(bands(c), data_->what().batch, systems_ == SystemsIn::rows, data_->bands());
  }

 private:
  std::unique_ptr<DeviceMemory> allocate() const { return std::make_unique<DeviceMemory>(bytes()); }

  CusparseStream stream_;
  const TridiagData<T>* data_;
  SystemsIn systems_;
  Shape shape_;
  std::vector<std::unique_ptr<DeviceMemory>> bands_, b_;  // dl, d and du of each copy; copies of b
};

namespace {

void check(int status, const char* call) { check_device(status, call); }

/// Solves one copy, or sets `bytes` to the size of the workspace if it is not null.
template <class T>
void call(const std::string& name, const TridiagCase& what, const DeviceSystems<T>& arrays, index_t copy, void* work,
          std::size_t* bytes) {
  using F = CusparseGtsv<T>;
  const cusparseHandle_t handle = arrays.stream().handle;
  const int n = static_cast<int>(what.n), batch = static_cast<int>(what.batch);
  const TridiagonalRow<T*> bands = arrays.bands(copy);
  auto *const dl = cublas::numbers(bands.dl), *const d = cublas::numbers(bands.d),
              *const du = cublas::numbers(bands.du), *const b = cublas::numbers(arrays.b(copy));
  if (name == "gtsv2")
    check(bytes != nullptr ? F::solve_bytes(handle, n, 1, dl, d, du, b, n, bytes)
                           : F::solve(handle, n, 1, dl, d, du, b, n, work),
          "cusparse gtsv2");
  else if (name == "gtsv2-nopivot")
    check(bytes != nullptr ? F::nopivot_bytes(handle, n, 1, dl, d, du, b, n, bytes)
                           : F::nopivot(handle, n, 1, dl, d, du, b, n, work),
          "cusparse gtsv2_nopivot");
  else if (name == "strided")
    check(bytes != nullptr ? F::strided_bytes(handle, n, dl, d, du, b, batch, n, bytes)
                           : F::strided(handle, n, dl, d, du, b, batch, n, work),
          "cusparse gtsv2StridedBatch");
  else {
    const int algorithm = name.back() - '0';
    check(bytes != nullptr ? F::interleaved_bytes(handle, algorithm, n, dl, d, du, b, batch, bytes)
                           : F::interleaved(handle, algorithm, n, dl, d, du, b, batch, work),
          "cusparse gtsvInterleavedBatch");
  }
}

}  // namespace

template <class T>
TridiagSolver<T> by_cusparse(TridiagProblem<T>& p, const std::string& name) {
  const bool interleaved = name.starts_with("interleaved");
  const SystemsIn systems = interleaved ? SystemsIn::rows : SystemsIn::columns;
  const index_t copies = interleaved ? ceil_div(p.solves, index_t{4}) : p.solves;
  auto& shared = p.devices[interleaved ? 1 : 0];
  if (!shared) shared = std::make_shared<const DeviceSystems<T>>(*p.data, systems, copies, interleaved ? copies : 1);
  const auto arrays = shared;
  std::size_t bytes = 0;
  call(name, p.data->what(), *arrays, 0, nullptr, &bytes);
  const auto work = std::make_shared<DeviceMemory>(bytes);
  const auto prepare = [arrays, interleaved] {
    select_first_device();
    if (interleaved) arrays->restore_bands();
    arrays->restore_b();
  };
  const auto run = [&p, name, arrays, work](Graph*) {
    for (index_t c = p.first; c < p.last; ++c)
      call<T>(name, p.data->what(), *arrays, c, work->template as<void>(), nullptr);
    check(cudaStreamSynchronize(arrays->stream().stream), "cudaStreamSynchronize after cuSPARSE");
  };
  const auto result = [systems, copies, arrays] {
    return TridiagAnswer<T>{systems, copies, [arrays](index_t copy, T* x) {
                              check(cudaMemcpy(x, arrays->b(copy), arrays->bytes(), cudaMemcpyDeviceToHost),
                                    "cudaMemcpy");
                            }};
  };
  return {prepare, run, {}, result};
}

TESELA_FUNCTIONS_FOR_NUMBERS(by_cusparse)

}  // namespace tesela::bench

#endif
