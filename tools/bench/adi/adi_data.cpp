#include "tools/bench/adi/adi_peers.hpp"

#include <cmath>
#include <limits>
#include <numbers>

namespace tesela::bench {

namespace {

struct Wave {
  double size;
  int x, y;
};
constexpr Wave waves[] = {{1, 1, 1}, {0.5, 2, 3}};

}  // namespace

template <class T>
AdiData<T>::AdiData(Runtime& runtime, index_t n, index_t tiles, bool on_device)
    : runtime_(&runtime),
      n_(n),
      tile_{std::max<index_t>(n, 1), std::max<index_t>(ceil_div(n, tiles), 1)},
      on_device_(on_device),
      c_(static_cast<T>(0.02 * static_cast<double>(n + 1))) {  // time steps as long as the grid is fine
  const std::vector<double> u = sum_of_waves(0);
  start_.assign(u.begin(), u.end());
}

template <class T>
std::vector<double> AdiData<T>::sum_of_waves(index_t steps) const {
  std::vector<double> u(static_cast<std::size_t>(n_ * n_));
  const double step = std::numbers::pi / static_cast<double>(n_ + 1), c = static_cast<double>(c_);
  for (const Wave& wave : waves) {
    // The sines are eigenvectors of both directions: in a step each factor is (1 - e) / (1 + e).
    const auto factor = [&](int number) {
      const double sine = std::sin(number * step / 2), e = 4 * c * sine * sine;
      return (1 - e) / (1 + e);
    };
    const auto sines = [&](int number) {
      std::vector<double> s;
      for (index_t i = 1; i <= n_; ++i) s.push_back(std::sin(number * step * static_cast<double>(i)));
      return s;
    };
    const std::vector<double> x = sines(wave.x), y = sines(wave.y);
    const double size = wave.size * std::pow(factor(wave.x) * factor(wave.y), static_cast<double>(steps));
    double* point = u.data();
    for (const double sy : y)
      for (const double sx : x) *point++ += size * sy * sx;
  }
  return u;
}

template <class T>
double AdiData<T>::error(const std::vector<T>& u, index_t steps) const {
  const auto [found, is_new] = after_.try_emplace(steps);
  if (is_new) found->second = sum_of_waves(steps);
  const std::vector<double>& expected = found->second;
  double most = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double difference = std::abs(static_cast<double>(u[i]) - expected[i]);
    if (!(difference <= most)) most = difference;  // also when it is not a number
  }
  const double rounding = 100 + static_cast<double>(steps) * (1 + 4 * static_cast<double>(c_));
  return most / (static_cast<double>(std::numeric_limits<T>::epsilon()) * rounding);
}

TESELA_CLASSES_FOR_REALS(AdiData)

}  // namespace tesela::bench
