#include "tools/bench/adi/adi_peers.hpp"
#include <tesela/tiles/parallel_for.hpp>

#include <barrier>

namespace tesela::bench {
namespace {

/// Thomas's method on all cores, without StarPU: each has its columns, then its rows.
template <class T>
class ThomasAdi : public AdiProgram<T> {
 public:
  explicit ThomasAdi(const AdiData<T>& data)
      : AdiProgram<T>("thomas"),
        data_(&data),
        u_(data.start()),
        v_(u_.size()),
        inverse_(static_cast<std::size_t>(data.n())),
        factor_(inverse_.size()) {
    const T c = data.c();
    for (std::size_t i = 0; i < inverse_.size(); ++i) {
      inverse_[i] = 1 / (1 + 2 * c + (i > 0 ? c * factor_[i - 1] : 0));
      factor_[i] = -c * inverse_[i];
    }
  }

  void restart() override { u_ = data_->start(); }
  void advance(index_t steps) override {
    const index_t n = data_->n(), team = all_cores();
    std::barrier all(team);
    parallel_for(team, [&](index_t mine) {
      const index_t first = mine * n / team, last = (mine + 1) * n / team;
      for (index_t step = 0; step < steps; ++step) {
        along_x(first, last);
        all.arrive_and_wait();
        along_y(first, last);
        all.arrive_and_wait();
      }
    });
  }
  std::vector<T> u() const override { return u_; }

 private:
  /// Columns first … last - 1 of v = (I - c dx²)^-1 (I + c dy²) u.
  void along_x(index_t first, index_t last) {
    const index_t n = data_->n();
    const T c = data_->c();
    for (index_t j = first; j < last; ++j) {
      const T* const u = u_.data() + j * n;
      T* const v = v_.data() + j * n;
      for (index_t i = 0; i < n; ++i)
        v[i] = (1 - 2 * c) * u[i] + c * ((j > 0 ? u[i - n] : 0) + (j + 1 < n ? u[i + n] : 0));
      T before = 0;
      for (index_t i = 0; i < n; ++i) before = v[i] = (v[i] + c * before) * inverse(i);
      for (index_t i = n - 2; i >= 0; --i) v[i] -= factor(i) * v[i + 1];
    }
  }

  /// Rows first … last - 1 of u = (I - c dy²)^-1 (I + c dx²) v, side by side down each column.
  void along_y(index_t first, index_t last) {
    const index_t n = data_->n();
    const T c = data_->c();
    for (index_t j = 0; j < n; ++j) {
      const T* const v = v_.data() + j * n;
      T* const u = u_.data() + j * n;
      for (index_t i = first; i < last; ++i) {
        const T sum = (1 - 2 * c) * v[i] + c * ((i > 0 ? v[i - 1] : 0) + (i + 1 < n ? v[i + 1] : 0));
        u[i] = (sum + (j > 0 ? c * u[i - n] : 0)) * inverse(j);
      }
    }
    for (index_t j = n - 2; j >= 0; --j) {
      T* const u = u_.data() + j * n;
      for (index_t i = first; i < last; ++i) u[i] -= factor(j) * u[i + n];
    }
  }

  T inverse(index_t i) const { return inverse_[static_cast<std::size_t>(i)]; }
  T factor(index_t i) const { return factor_[static_cast<std::size_t>(i)]; }

  const AdiData<T>* data_;
  std::vector<T> u_, v_, inverse_, factor_;
};

}  // namespace

template <class T>
std::unique_ptr<AdiProgram<T>> thomas_adi(const AdiData<T>& data) {
  return std::make_unique<ThomasAdi<T>>(data);
}

TESELA_FUNCTIONS_FOR_REALS(thomas_adi)

}  // namespace tesela::bench
