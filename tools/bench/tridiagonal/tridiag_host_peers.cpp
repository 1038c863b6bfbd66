#include "tools/bench/tridiagonal/tridiag_peers.hpp"
#include "tools/peers/harness.hpp"
#include <tesela/tiles/parallel_for.hpp>

#include <fmt/format.h>

#include <array>
#include <cstring>

extern "C" {
void sgtsv_(const int*, const int*, float*, float*, float*, float*, const int*, int*);
void dgtsv_(const int*, const int*, double*, double*, double*, double*, const int*, int*);
}

namespace tesela::bench {

using namespace kernels;

template <class T>
HostSystems<T>::HostSystems(const TridiagData<T>& data, SystemsIn systems, index_t copies) {
  const Shape shape = data.what().shape(systems);
  bytes_ = static_cast<std::size_t>(shape.rows * shape.cols) * sizeof(T);
  for (int a = 0; a < 4; ++a) arrays_.push_back(std::make_unique<HostBuffer>(data.runtime(), bytes_));
  parallel_for(shape.rows * shape.cols, [&](index_t first, index_t last) {
    const auto row_of = data.bands();
    const auto b = data.b();
    for (index_t e = first; e < last; ++e) {
      const index_t i = e % shape.rows, j = e / shape.rows;
      const auto row = systems == SystemsIn::columns ? row_of(i, j) : row_of(j, i);
      array(0)[e] = row.dl;
      array(1)[e] = row.d;
      array(2)[e] = row.du;
      array(3)[e] = b(i, j);
    }
  });
  for (index_t c = 0; c < copies; ++c) work_.push_back(std::make_unique<HostBuffer>(data.runtime(), bytes_));
}

template <class T>
void HostSystems<T>::restore() const {
  for (index_t c = 0; c < copies(); ++c) std::memcpy(b(c), array(3), bytes_);
}

namespace {

/// What both peers have in common: systems in columns, each solved by one call.
template <class T>
class HostTridiag : public TridiagSolver<T> {
 public:
  HostTridiag(std::string name, const TridiagData<T>& data, std::shared_ptr<const HostSystems<T>> host)
      : TridiagSolver<T>(std::move(name), SystemsIn::columns, host->copies()), host_(std::move(host)), data_(&data) {}

  void restore() override { host_->restore(); }
  void start(index_t copy) override {
    const index_t n = data_->what().n;
    parallel_for(data_->what().batch, [=, this](index_t first, index_t last) {
      for (index_t s = first; s < last; ++s) solve(copy, s * n, host_->b(copy) + s * n);
    });
  }
  void wait() override {}
  void copy_solution(index_t copy, T* x) const override { std::memcpy(x, host_->b(copy), host_->bytes()); }

 protected:
  /// One system, whose bands begin `offset` elements into theirs.
  virtual void solve(index_t copy, index_t offset, T* b) = 0;
  std::shared_ptr<const HostSystems<T>> host_;
  const TridiagData<T>* data_;
};

template <class T>
class Lapack : public HostTridiag<T> {
 public:
  Lapack(const TridiagData<T>& data, std::shared_ptr<const HostSystems<T>> host)
      : HostTridiag<T>("lapack", data, std::move(host)), bands_(static_cast<std::size_t>(this->solves())) {
    for (auto& copy : bands_)
      for (auto& band : copy) band = std::make_unique<HostBuffer>(data.runtime(), this->host_->bytes());
  }

  void restore() override {
    HostTridiag<T>::restore();
    const TridiagonalRow<T*> from = this->host_->bands();
    for (const auto& [dl, d, du] : bands_)
      for (const auto& [to, band] : {std::pair{&dl, from.dl}, std::pair{&d, from.d}, std::pair{&du, from.du}})
        std::memcpy((*to)->data(), band, this->host_->bytes());
  }
  void wait() override {
    if (const int info = info_.exchange(0); info != 0)
      throw WrongResult(fmt::format("bench tridiag: lapack: info {}", info));
  }

 private:
  void solve(index_t copy, index_t offset, T* b) override {
    const auto band = [&](std::size_t which) {
      return static_cast<T*>(bands_[static_cast<std::size_t>(copy)][which]->data()) + offset;
    };
    const int n = static_cast<int>(this->data_->what().n), one = 1;
    int info = 0;
    if constexpr (std::is_same_v<T, float>)
      sgtsv_(&n, &one, band(0) + 1, band(1), band(2), b, &n, &info);
    else
      dgtsv_(&n, &one, band(0) + 1, band(1), band(2), b, &n, &info);
    if (info != 0) info_ = info;
  }
  std::vector<std::array<std::unique_ptr<HostBuffer>, 3>> bands_;  // dl, d and du of each copy: gtsv overwrites them
  std::atomic<int> info_ = 0;
};

template <class T>
class Thomas : public HostTridiag<T> {
 public:
  Thomas(const TridiagData<T>& data, std::shared_ptr<const HostSystems<T>> host)
      : HostTridiag<T>("thomas", data, std::move(host)), upper_(data.runtime(), this->host_->bytes()) {
    std::memset(upper_.data(), 0, this->host_->bytes());
  }

 private:
  void solve(index_t, index_t offset, T* b) override {
    const index_t n = this->data_->what().n;
    const TridiagonalRow<T*> bands = this->host_->bands();
    const T *dl = bands.dl + offset, *d = bands.d + offset, *du = bands.du + offset;
    T* upper = static_cast<T*>(upper_.data()) + offset;
    T above = 0, x = 0;  // of the row before, whose diagonal is 1
    for (index_t i = 0; i < n; ++i) {
      const T left = i > 0 ? dl[i] : T(0);
      const T pivot = T(1) / (d[i] - left * above);
      upper[i] = above = du[i] * pivot;
      b[i] = x = (b[i] - left * x) * pivot;
    }
    for (index_t i = n - 2; i >= 0; --i) b[i] = x = b[i] - upper[i] * x;
  }
  HostBuffer upper_;
};

}  // namespace

template <class T>
std::unique_ptr<TridiagSolver<T>> lapack_tridiag(const TridiagData<T>& data,
                                                 std::shared_ptr<const HostSystems<T>> host) {
  return std::make_unique<Lapack<T>>(data, std::move(host));
}

template <class T>
std::unique_ptr<TridiagSolver<T>> thomas_tridiag(const TridiagData<T>& data,
                                                 std::shared_ptr<const HostSystems<T>> host) {
  return std::make_unique<Thomas<T>>(data, std::move(host));
}

template class HostSystems<float>;
template class HostSystems<double>;
template std::unique_ptr<TridiagSolver<float>> lapack_tridiag(const TridiagData<float>&,
                                                              std::shared_ptr<const HostSystems<float>>);
template std::unique_ptr<TridiagSolver<double>> lapack_tridiag(const TridiagData<double>&,
                                                               std::shared_ptr<const HostSystems<double>>);
template std::unique_ptr<TridiagSolver<float>> thomas_tridiag(const TridiagData<float>&,
                                                              std::shared_ptr<const HostSystems<float>>);
template std::unique_ptr<TridiagSolver<double>> thomas_tridiag(const TridiagData<double>&,
                                                               std::shared_ptr<const HostSystems<double>>);

}  // namespace tesela::bench
