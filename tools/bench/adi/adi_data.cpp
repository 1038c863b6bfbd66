#include "tools/bench/adi/adi_peers.hpp"
#include <tesela/tiles/parallel_for.hpp>

#include <cmath>
#include <limits>
#include <numbers>

namespace tesela::bench {

using kernels::SystemsIn;
namespace {

struct Wave {
  double size;
  int x, y;
};
constexpr Wave waves[] = {{1, 1, 1}, {0.5, 2, 3}};

/// Where point i of system s is: along columns or along rows.
index_t place(SystemsIn systems, index_t n, index_t i, index_t s) {
  return systems == SystemsIn::columns ? i + s * n : s + i * n;
}

}  // namespace

template <class T>
AdiData<T>::AdiData(Runtime& runtime, index_t n, index_t tiles, bool on_device, bool varying)
    : runtime_(&runtime),
      n_(n),
      tile_{std::max<index_t>(n, 1), std::max<index_t>(ceil_div(n, tiles), 1)},
      on_device_(on_device),
      varying_(varying),
      c_(static_cast<T>(0.02 * static_cast<double>(n + 1))) {  // time steps as long as the grid is fine
  const std::vector<double> u = sum_of_waves(0);
  start_.assign(u.begin(), u.end());
  for (index_t k = 1; varying && k <= 2 * n + 1; ++k) {
    const double at = static_cast<double>(k) / static_cast<double>(2 * n + 2) * std::numbers::pi;
    x_.push_back(0.5 * std::sin(2 * at + 0.3));
    y_.push_back(std::cos(3 * at));
  }
}

template <class T>
double AdiData<T>::conductivity(SystemsIn systems, index_t edge, index_t system) const {
  if (!varying_) return 1;
  const auto between = static_cast<std::size_t>(2 * edge), point = static_cast<std::size_t>(2 * system + 1);
  return 1 + (systems == SystemsIn::columns ? x_[between] * y_[point] : x_[point] * y_[between]);
}

template <class T>
typename AdiData<T>::Bands AdiData<T>::bands(SystemsIn systems, int sign) const {
  const index_t count = varying_ ? n_ : 1;
  const auto size = static_cast<std::size_t>(count * n_);
  const double c = sign * static_cast<double>(c_);
  Bands b{std::vector<T>(size), std::vector<T>(size), std::vector<T>(size)};
  for (index_t k = 0; k < count * n_; ++k) {  // as they lie in memory
    const index_t row = k % n_, column = k / n_;
    const bool inner = systems == SystemsIn::columns || count == 1;
    const index_t i = inner ? row : column, system = inner ? column : row;
    const auto at = static_cast<std::size_t>(k);
    const double before = conductivity(systems, i, system), behind = conductivity(systems, i + 1, system);
    b.dl[at] = static_cast<T>(c * before);
    b.d[at] = static_cast<T>(1 - c * (before + behind));
    b.du[at] = static_cast<T>(c * behind);
  }
  return b;
}

/// By elimination in double, several systems at a time, so that lines of memory are used whole in both directions.
template <class T>
void AdiData<T>::advance(std::vector<double>& u, index_t steps) const {
  std::vector<double> v(u.size());
  const double c = static_cast<double>(c_);
  constexpr index_t together = 16;
  const auto by_systems = [&](const auto& work) {
    parallel_for(ceil_div(n_, together), [&](index_t first, index_t last) {
      for (index_t k = first; k < last; ++k) work(k * together, std::min(n_, (k + 1) * together));
    });
  };
  const auto multiply = [&](SystemsIn systems) {  // v = (I + c d²) u
    by_systems([&](index_t first, index_t last) {
      for (index_t i = 0; i < n_; ++i)
        for (index_t s = first; s < last; ++s) {
          const auto point = [&](index_t k) {
            return k < 0 || k == n_ ? 0.0 : u[static_cast<std::size_t>(place(systems, n_, k, s))];
          };
          v[static_cast<std::size_t>(place(systems, n_, i, s))] =
              point(i) + c * (conductivity(systems, i, s) * (point(i - 1) - point(i)) +
                              conductivity(systems, i + 1, s) * (point(i + 1) - point(i)));
        }
    });
  };
  const auto solve = [&](SystemsIn systems) {  // (I - c d²) u = v
    by_systems([&](index_t first, index_t last) {
      std::vector<double> factors(static_cast<std::size_t>(n_ * together));
      const auto factor = [&](index_t i, index_t s) -> double& {
        return factors[static_cast<std::size_t>(i * together + s - first)];
      };
      const auto point = [&](index_t i, index_t s) -> double& {
        return u[static_cast<std::size_t>(place(systems, n_, i, s))];
      };
      for (index_t i = 0; i < n_; ++i)
        for (index_t s = first; s < last; ++s) {
          const double before = c * conductivity(systems, i, s), behind = c * conductivity(systems, i + 1, s),
                       inverse = 1 / (1 + before + behind - (i > 0 ? before * factor(i - 1, s) : 0));
          factor(i, s) = behind * inverse;
          point(i, s) =
              (v[static_cast<std::size_t>(place(systems, n_, i, s))] + (i > 0 ? before * point(i - 1, s) : 0)) *
              inverse;
        }
      for (index_t i = n_ - 2; i >= 0; --i)
        for (index_t s = first; s < last; ++s) point(i, s) += factor(i, s) * point(i + 1, s);
    });
  };
  for (index_t step = 0; step < steps; ++step) {
    multiply(SystemsIn::rows);
    solve(SystemsIn::columns);
    multiply(SystemsIn::columns);
    solve(SystemsIn::rows);
  }
}

template <class T>
const std::vector<double>& AdiData<T>::after(index_t steps) const {
  const auto [found, is_new] = after_.try_emplace(steps);
  if (is_new) {
    found->second = sum_of_waves(varying_ ? 0 : steps);
    if (varying_) advance(found->second, steps);
  }
  return found->second;
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
  const std::vector<double>& expected = after(steps);
  double most = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double difference = std::abs(static_cast<double>(u[i]) - expected[i]);
    if (!(difference <= most)) most = difference;  // also when it is not a number
  }
  const double rounding = 100 + static_cast<double>(steps) * (1 + 4 * static_cast<double>(c_));
  return most / (static_cast<double>(std::numeric_limits<T>::epsilon()) * rounding);
}

template class AdiData<float>;
template class AdiData<double>;

}  // namespace tesela::bench
