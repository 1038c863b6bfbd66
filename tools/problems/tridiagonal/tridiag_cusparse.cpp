#include "tools/app/standard_streams.hpp"
#include "tools/bench/tridiagonal/tridiag_peers.hpp"

#if TESELA_HAVE_CUDA

#include "tools/bench/tridiagonal/cusparse.hpp"
#include "tools/peers/generate.hpp"

#include <fmt/format.h>

namespace tesela::bench {

using namespace kernels;
namespace {

void check(int status, const char* call) { check_device(status, call); }

/// The arrays of a layout in the memory of device 0: B in several copies, and where they are overwritten the bands too.
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

  const TridiagData<T>* data_;
  SystemsIn systems_;
  Shape shape_;
  std::vector<std::unique_ptr<DeviceMemory>> bands_, b_;  // dl, d and du of each copy; copies of b
};

template <class T>
class CusparseTridiag : public TridiagSolver<T> {
 public:
  CusparseTridiag(const std::string& name, const TridiagData<T>& data, SystemsIn systems, index_t solves,
                  std::shared_ptr<const CusparseStream> stream, std::shared_ptr<const DeviceSystems<T>> arrays)
      : TridiagSolver<T>(name, systems, solves),
        n_(static_cast<int>(data.what().n)),
        batch_(static_cast<int>(data.what().batch)),
        stream_(std::move(stream)),
        arrays_(std::move(arrays)) {
    std::size_t bytes = 0;
    call(0, &bytes);
    work_ = std::make_unique<DeviceMemory>(bytes);
  }

  void restore() override {
    select_first_device();
    if (interleaved()) arrays_->restore_bands();
    arrays_->restore_b();
  }
  void start(index_t copy) override { call(copy, nullptr); }
  void wait() override { check(cudaStreamSynchronize(stream_->stream), "cudaStreamSynchronize after cuSPARSE"); }
  void copy_solution(index_t copy, T* x) const override {
    check(cudaMemcpy(x, arrays_->b(copy), arrays_->bytes(), cudaMemcpyDeviceToHost), "cudaMemcpy");
  }

 private:
  bool interleaved() const { return this->systems() == SystemsIn::rows; }

  /// Solves, or asks how large the workspace must be.
  void call(index_t copy, std::size_t* bytes) const {
    using F = CusparseGtsv<T>;
    const cusparseHandle_t handle = stream_->handle;
    const auto [dl, d, du] = arrays_->bands(copy);
    T* b = arrays_->b(copy);
    void* work = work_ ? work_->template as<void>() : nullptr;
    if (this->name() == "gtsv2")
      check(bytes != nullptr ? F::solve_bytes(handle, n_, 1, dl, d, du, b, n_, bytes)
                             : F::solve(handle, n_, 1, dl, d, du, b, n_, work),
            "cusparse gtsv2");
    else if (this->name() == "gtsv2-nopivot")
      check(bytes != nullptr ? F::nopivot_bytes(handle, n_, 1, dl, d, du, b, n_, bytes)
                             : F::nopivot(handle, n_, 1, dl, d, du, b, n_, work),
            "cusparse gtsv2_nopivot");
    else if (!interleaved())
      check(bytes != nullptr ? F::strided_bytes(handle, n_, dl, d, du, b, batch_, n_, bytes)
                             : F::strided(handle, n_, dl, d, du, b, batch_, n_, work),
            "cusparse gtsv2StridedBatch");
    else {
      const int algorithm = this->name().back() - '0';
      check(bytes != nullptr ? F::interleaved_bytes(handle, algorithm, n_, dl, d, du, b, batch_, bytes)
                             : F::interleaved(handle, algorithm, n_, dl, d, du, b, batch_, work),
            "cusparse gtsvInterleavedBatch");
    }
  }

  int n_, batch_;
  std::shared_ptr<const CusparseStream> stream_;
  std::shared_ptr<const DeviceSystems<T>> arrays_;
  std::unique_ptr<DeviceMemory> work_;
};

}  // namespace

template <class T>
TridiagSolvers<T> cusparse_tridiag(const TridiagData<T>& data, const std::vector<std::string>& names, index_t solves) {
  TridiagSolvers<T> solvers;
  const auto stream = std::make_shared<const CusparseStream>();
  std::shared_ptr<const DeviceSystems<T>> columns, rows;
  const index_t fewer = ceil_div(solves, 4);
  for (const std::string& name : names) {
    const bool interleaved = name.starts_with("interleaved");
    auto& arrays = interleaved ? rows : columns;
    const index_t copies = interleaved ? fewer : solves;
    const SystemsIn systems = interleaved ? SystemsIn::rows : SystemsIn::columns;
    if (!arrays) arrays = std::make_shared<const DeviceSystems<T>>(data, systems, copies, interleaved ? copies : 1);
    try {
      solvers.push_back(std::make_unique<CusparseTridiag<T>>(name, data, systems, copies, stream, arrays));
    } catch (const EnvironmentError& error) {  // its work space may be larger than the device, or than it can count
      cli::print_error(fmt::format("tesela: {} is left out: {}", name, error.what()));
    }
  }
  return solvers;
}

template TridiagSolvers<float> cusparse_tridiag(const TridiagData<float>&, const std::vector<std::string>&, index_t);
template TridiagSolvers<double> cusparse_tridiag(const TridiagData<double>&, const std::vector<std::string>&, index_t);

}  // namespace tesela::bench

#endif
