#include "tools/bench/adi/adi_on_cores.hpp"

namespace tesela::bench {

using kernels::SystemsIn;
namespace {

/// The matrices of one direction: the factors of the products, and the elimination of (I - c d²): its dl, pivots and
/// factors.
template <class T>
struct Lines {
  typename AdiData<T>::Bands product;
  std::vector<T> dl, inverse, factor;

  Lines(const AdiData<T>& data, SystemsIn systems) : product(data.bands(systems, 1)) {
    auto bands = data.bands(systems, -1);
    const index_t n = data.n(), step = systems == SystemsIn::columns ? 1 : n;
    inverse.resize(bands.d.size());
    factor.resize(bands.d.size());
    for (index_t k = 0; k < n * n; ++k) {  // an element comes after the one before it in its line, in both directions
      const auto at = static_cast<std::size_t>(k), before = static_cast<std::size_t>(k - step);
      const bool first = (systems == SystemsIn::columns ? k % n : k / n) == 0;
      inverse[at] = 1 / (bands.d[at] - (first ? 0 : bands.dl[at] * factor[before]));
      factor[at] = bands.du[at] * inverse[at];
    }
    dl = std::move(bands.dl);
  }
};

template <class T>
class VaryingThomasAdi : public AdiOnCores<T> {
  using AdiOnCores<T>::data_, AdiOnCores<T>::u_, AdiOnCores<T>::v_;

 public:
  explicit VaryingThomasAdi(const AdiData<T>& data)
      : AdiOnCores<T>(data), x_(data, SystemsIn::columns), y_(data, SystemsIn::rows) {}

 private:
  void along_x(index_t first, index_t last) override {
    const index_t n = data_->n();
    const auto& [dl, d, du] = y_.product;
    const T *u = u_.data(), *below = x_.dl.data(), *inverse = x_.inverse.data(), *factor = x_.factor.data();
    T* const v = v_.data();
    for (index_t j = first; j < last; ++j) {
      for (index_t k = j * n; k < (j + 1) * n; ++k) {
        const auto at = static_cast<std::size_t>(k);
        v[k] = d[at] * u[k] + (j > 0 ? dl[at] * u[k - n] : 0) + (j + 1 < n ? du[at] * u[k + n] : 0);
      }
      T before = 0;
      for (index_t k = j * n; k < (j + 1) * n; ++k) before = v[k] = (v[k] - below[k] * before) * inverse[k];
      for (index_t k = (j + 1) * n - 2; k >= j * n; --k) v[k] -= factor[k] * v[k + 1];
    }
  }

  void along_y(index_t first, index_t last) override {
    const index_t n = data_->n();
    const auto& [dl, d, du] = x_.product;
    const T *v = v_.data(), *below = y_.dl.data(), *inverse = y_.inverse.data(), *factor = y_.factor.data();
    T* const u = u_.data();
    for (index_t j = 0; j < n; ++j)
      for (index_t i = first; i < last; ++i) {
        const index_t k = i + j * n;
        const auto at = static_cast<std::size_t>(k);
        const T sum = d[at] * v[k] + (i > 0 ? dl[at] * v[k - 1] : 0) + (i + 1 < n ? du[at] * v[k + 1] : 0);
        u[k] = (sum - (j > 0 ? below[k] * u[k - n] : 0)) * inverse[k];
      }
    for (index_t j = n - 2; j >= 0; --j)
      for (index_t k = first + j * n; k < last + j * n; ++k) u[k] -= factor[k] * u[k + n];
  }

  Lines<T> x_, y_;
};

}  // namespace

template <class T>
std::unique_ptr<AdiProgram<T>> varying_thomas_adi(const AdiData<T>& data) {
  return std::make_unique<VaryingThomasAdi<T>>(data);
}

template std::unique_ptr<AdiProgram<float>> varying_thomas_adi(const AdiData<float>&);
template std::unique_ptr<AdiProgram<double>> varying_thomas_adi(const AdiData<double>&);

}  // namespace tesela::bench
