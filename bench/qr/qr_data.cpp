#include "bench/qr/qr_data.hpp"

#include "bench/errors/qr_error.hpp"
#include "cli/app/matrices.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tesela::bench {

template <class T>
QrData<T>::QrData(Runtime& runtime, const QrCase& what)
    : runtime_(&runtime), what_(what), original_(cli::generate<T>({what.m, what.n}, generator())) {
  if (!what.on_device)
    work_ = std::make_unique<HostBuffer>(runtime, static_cast<std::size_t>(original_.size()) * sizeof(T));
}

template <class T>
void QrData<T>::restore() const {
  std::memcpy(a(), original_.data(), static_cast<std::size_t>(original_.size()) * sizeof(T));
}

template <class T>
double QrData<T>::check(const std::string& peer, const HostMatrix<T>& factors,
                        const std::function<void(HostMatrix<T>&)>& multiply_q) const {
  const QrSample<T> sample(factors, 16, what_.seed);
  HostMatrix<T> product = sample.block().clone();
  multiply_q(product);
  const QrError error = sample.error(original_, product);
  const double root = std::sqrt(static_cast<double>(what_.n));
  const bool single = std::is_same_v<T, float>;
  const double backward = error.backward / (single ? 5e-6 : 5e-15 * root),
               orthogonality = error.orthogonality / (single ? 1e-4 : 1e-13 * root);
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
