#include "tools/problems/qr/qr_data.hpp"

#include <tesela/tiles/filled.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tesela::bench {

template <class T>
QrData<T>::QrData(Runtime& runtime, const QrCase& what) : runtime_(&runtime), what_(what) {
  if (!what.on_device || !what.sampled()) original_ = generate<T>({what.m, what.n}, generator());
  if (!what.on_device)
    work_ = std::make_unique<HostBuffer>(runtime, static_cast<std::size_t>(original_.size()) * sizeof(T));
}

template <class T>
void QrData<T>::restore() const {
  std::memcpy(a(), original_.data(), static_cast<std::size_t>(original_.size()) * sizeof(T));
}

template <class T>
double QrData<T>::check(const std::string& peer, const QrFactors<T>& factors) const {
  const auto& [m, n] = std::pair{what_.m, what_.n};
  if (!what_.sampled()) {
    HostMatrix<T> whole(m, n);
    factors.read(0, whole);
    return check(peer, whole, factors.multiply_q);
  }
  constexpr index_t groups = 4, neighbours = QrCase::sampled_columns / groups;
  auto r = HostMatrix<T>::zeros(std::min(m, n), QrCase::sampled_columns);
  HostMatrix<T> a(m, QrCase::sampled_columns), block(m, neighbours);
  const Generator<T> element = generator();
  const Generator<double> random{Pattern::uniform, 0, 0, what_.seed + 17};
  for (index_t g = 0; g < groups; ++g) {
    const index_t room = n / groups - neighbours;
    const auto within = static_cast<index_t>((random(g, 0) + 1) / 2 * static_cast<double>(room));
    const index_t first = g == groups - 1 ? n - neighbours : g * (n / groups) + within;
    factors.read(first, block);
    for (index_t j = 0; j < neighbours; ++j) {
      const index_t column = g * neighbours + j;
      std::copy_n(&block(0, j), std::min(first + j + 1, r.rows()), &r(0, column));
      for (index_t i = 0; i < m; ++i) a(i, column) = element(i, first + j);
    }
  }
  return judge(peer, QrSample<T>({m, n}, r, 16, what_.seed), a, factors.multiply_q);
}

template <class T>
double QrData<T>::check(const std::string& peer, const HostMatrix<T>& factors,
                        const std::function<void(HostMatrix<T>&)>& multiply_q) const {
  return judge(peer, QrSample<T>(factors, 16, what_.seed), original_, multiply_q);
}

template <class T>
double QrData<T>::judge(const std::string& peer, const QrSample<T>& sample, const HostMatrix<T>& a,
                        const std::function<void(HostMatrix<T>&)>& multiply_q) const {
  HostMatrix<T> product = sample.block().clone();
  multiply_q(product);
  const QrError error = sample.error(a, product);
  const double root = std::sqrt(static_cast<double>(what_.n));
  const bool single = std::is_same_v<T, float>;
  const double backward = error.backward / (single ? 5e-6 : 5e-15 * root),
               orthogonality = error.orthogonality / (single ? std::fmax(1e-4, 2e-6 * root) : 1e-13 * root);
  if (!error.finite || !(backward <= 1) || !(orthogonality <= 1))
    throw WrongResult(
        fmt::format("bench qr: {}: ||A - QR|| / ||A|| is {:.3g}, {:.3g} times its bound, and "
                    "||I - Q'Q|| {:.3g}, {:.3g} times",
                    peer, error.backward, backward, error.orthogonality, orthogonality));
  return std::max(backward, orthogonality);
}

template class QrData<float>;
template class QrData<double>;

}  // namespace tesela::bench
