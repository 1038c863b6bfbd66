#include "tools/bench/adi/adi_peers.hpp"
#include <tesela/codelets/support/fill.hpp>

#if TESELA_HAVE_CUDA

#include "tools/peers/cusparse.hpp"

namespace tesela::bench {

using namespace kernels;
namespace {

template <class T>
struct Bands {
  explicit Bands(index_t size) : count(size), dl(bytes()), d(bytes()), du(bytes()) {}
  std::size_t bytes() const { return static_cast<std::size_t>(count) * sizeof(T); }
  index_t count;
  DeviceMemory dl, d, du;
};

template <class T>
class CusparseAdi : public AdiProgram<T> {
  using F = CusparseGtsv<T>;

 public:
  CusparseAdi(const AdiData<T>& data, const std::string& name)
      : AdiProgram<T>(name),
        data_(&data),
        n_(data.n()),
        algorithm_(name.back() - '0'),
        batch_(name.starts_with("strided")),
        u_(bytes()),
        v_(bytes()),
        explicit_(n_),
        x_(batch_ ? n_ * n_ : n_),
        y_(n_ * n_) {
    context_.redirect(on_.stream);
    write(explicit_, data.c(), 1);
    write(x_, -data.c(), batch_ ? n_ : 1);
    renew_y();
    std::size_t x = 0, y = 0;
    solve_x(&x);
    solve_y(&y);
    work_ = std::make_unique<DeviceMemory>(std::max(x, y));
  }

  void restart() override {
    select_first_device();
    check_device(cudaMemcpyAsync(u_.as<T>(), data_->start().data(), bytes(), cudaMemcpyHostToDevice, on_.stream),
                 "cudaMemcpyAsync");
  }

  void advance(index_t steps) override {
    select_first_device();
    for (index_t step = 0; step < steps; ++step) {
      multiply(true, u_, v_);
      solve_x(nullptr);
      multiply(false, v_, u_);
      renew_y();
      solve_y(nullptr);
    }
    check_device(cudaStreamSynchronize(on_.stream), "cudaStreamSynchronize after cuSPARSE");
  }

  std::vector<T> u() const override {
    std::vector<T> u(data_->start().size());
    copy_memory(u.data(), u_.template as<T>(), bytes());
    return u;
  }

 private:
  std::size_t bytes() const { return static_cast<std::size_t>(n_ * n_) * sizeof(T); }

  /// I + c d²: `columns` matrices one behind the other, or as many interleaved ones as there is room for.
  void write(const Bands<T>& bands, T c, index_t columns) {
    const auto fill = [&](const DeviceMemory& a, T value) {
      Fill<T>::cuda(context_, {{Pattern::constant, value}}, {{a.as<T>(), bands.count, 1, bands.count}});
    };
    fill(bands.dl, c);
    fill(bands.d, 1 - 2 * c);
    fill(bands.du, c);
    const std::size_t together = static_cast<std::size_t>(columns > 1 ? 1 : bands.count / n_);
    const auto zero = [&](T* first) {
      check_device(cudaMemset2DAsync(first, static_cast<std::size_t>(n_) * sizeof(T), 0, together * sizeof(T),
                                     static_cast<std::size_t>(columns), on_.stream),
                   "cudaMemset2DAsync");
    };
    zero(bands.dl.template as<T>());
    zero(bands.du.template as<T>() + (columns > 1 ? n_ - 1 : bands.count - bands.count / n_));
  }

  void renew_y() { write(y_, -data_->c(), 1); }

  void multiply(bool in_rows, const DeviceMemory& x, const DeviceMemory& b) {
    const auto band = [&](const DeviceMemory& a) {
      return in_rows ? In<T>{{a.as<T>(), 1, n_, 1}} : In<T>{{a.as<T>(), n_, 1, n_}};
    };
    const In<T> from{{x.as<T>(), n_, n_, n_}};
    TridiagonalProduct<T>::cuda(context_, {.in_rows = in_rows}, band(explicit_.dl), band(explicit_.d),
                                band(explicit_.du), from, from, from, {{b.as<T>(), n_, n_, n_}});
  }

  // Both solve, or ask how large the workspace must be.
  void solve_x(std::size_t* bytes) {
    T *dl = x_.dl.template as<T>(), *d = x_.d.template as<T>(), *du = x_.du.template as<T>(), *b = v_.as<T>();
    const int n = static_cast<int>(n_);
    if (batch_)
      check_device(bytes != nullptr ? F::strided_bytes(on_.handle, n, dl, d, du, b, n, n, bytes)
                                    : F::strided(on_.handle, n, dl, d, du, b, n, n, work_->as<void>()),
                   "cusparse gtsv2StridedBatch");
    else
      check_device(bytes != nullptr ? F::nopivot_bytes(on_.handle, n, n, dl, d, du, b, n, bytes)
                                    : F::nopivot(on_.handle, n, n, dl, d, du, b, n, work_->as<void>()),
                   "cusparse gtsv2_nopivot");
  }
  void solve_y(std::size_t* bytes) {
    T *dl = y_.dl.template as<T>(), *d = y_.d.template as<T>(), *du = y_.du.template as<T>(), *b = u_.as<T>();
    const int n = static_cast<int>(n_);
    check_device(bytes != nullptr ? F::interleaved_bytes(on_.handle, algorithm_, n, dl, d, du, b, n, bytes)
                                  : F::interleaved(on_.handle, algorithm_, n, dl, d, du, b, n, work_->as<void>()),
                 "cusparse gtsvInterleavedBatch");
  }

  const AdiData<T>* data_;
  index_t n_;
  int algorithm_;
  bool batch_;
  CusparseStream on_;
  CudaContext context_{"bench adi"};
  DeviceMemory u_, v_;
  Bands<T> explicit_, x_, y_;
  std::unique_ptr<DeviceMemory> work_;
};

}  // namespace

template <class T>
std::unique_ptr<AdiProgram<T>> cusparse_adi(const AdiData<T>& data, const std::string& name) {
  return std::make_unique<CusparseAdi<T>>(data, name);
}

TESELA_FUNCTIONS_FOR_REALS(cusparse_adi)

}  // namespace tesela::bench

#endif
