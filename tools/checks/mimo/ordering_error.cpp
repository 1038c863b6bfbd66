#include "tools/checks/mimo/mimo_error.hpp"
#include <tesela/algorithms/mimo/orderings.hpp>

#include <algorithm>
#include <cmath>

namespace tesela {
namespace {

double error_of(const HostMatrix<double>& both, const HostMatrix<double>& h, const std::vector<int>& order) {
  const index_t n = h.rows();
  double apart = 0, size = 0, skew = 0, largest = 0;
  for (index_t e = 0; e < h.size(); ++e) largest = std::fmax(largest, std::abs(h.data()[e]));
  const int exponent = largest > 0 ? std::ilogb(largest) : 0;  // prevents overflow of squares
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < n; ++i) {
      const double given = std::ldexp(h(i, order[static_cast<std::size_t>(j)]), -exponent);
      double left = given, dot = i == j ? -1 : 0;
      for (index_t k = 0; k < n; ++k) {
        left -= both(k, n + i) * std::ldexp(both(k, j), -exponent);
        dot += both(i, n + k) * both(j, n + k);
      }
      apart += left * left, size += given * given, skew += dot * dot;
    }
  return std::fmax(size > 0 ? std::sqrt(apart / size) : std::sqrt(apart), std::sqrt(skew));
}

/// Returns the largest f(rank, order) over about `most` equally spaced orders of n columns; NaN if one is NaN.
template <class F>
double largest_of_orders(index_t n, index_t most, const F& f) {
  std::uint64_t all = 1;
  for (index_t k = 2; k <= n; ++k) all *= static_cast<std::uint64_t>(k);
  std::uint64_t step = std::max<std::uint64_t>(1, all / static_cast<std::uint64_t>(std::max<index_t>(most, 1)));
  if (step > 1 && step % 2 == 0) ++step;  // odd, to avoid common divisors with a period
  double error = 0;
  for (std::uint64_t rank = 0; rank < all; rank += step) {
    const double one = f(static_cast<index_t>(rank), permutation_of_rank(n, rank));
    error = one <= error ? error : one;
  }
  return error;
}

}  // namespace

double ordering_error(const OrderedDetector& detector, const HostMatrix<double>& h, index_t most) {
  return largest_of_orders(h.rows(), most, [&](index_t, const std::vector<int>& order) {
    return error_of(detector.factors(order), h, order);
  });
}

double triangles_error(const std::function<double(index_t k, index_t i, index_t j)>& at, const HostMatrix<double>& r0,
                       index_t most) {
  const index_t n = r0.rows();
  double size = 0;
  for (index_t e = 0; e < r0.size(); ++e) size += r0.data()[e] * r0.data()[e];
  return largest_of_orders(n, most, [&](index_t k, const std::vector<int>& order) {
    double apart = 0;
    for (index_t j = 0; j < n; ++j)
      for (index_t i = 0; i < n; ++i) {
        double left = 0;
        for (index_t l = 0; l < n; ++l)
          left += r0(l, order[static_cast<std::size_t>(i)]) * r0(l, order[static_cast<std::size_t>(j)]);
        for (index_t l = 0; l <= std::min(i, j); ++l) left -= at(k, l, i) * at(k, l, j);
        apart += left * left;
      }
    return size > 0 ? std::sqrt(apart) / size : std::sqrt(apart);
  });
}

index_t ordering_mismatches(Graph& g, const HostMatrix<double>& h, const HostMatrix<double>& x,
                            const Constellation& alphabet, const Detection& found) {
  const Constellation::Axis axis = alphabet.product().front().re;
  Constellation amplitudes{"amplitudes", {}};
  for (std::size_t k = 0; k < axis.labels.size(); ++k)
    amplitudes.points.emplace_back(axis.low + axis.step * static_cast<double>(k), 0.0);
  const index_t n = h.rows();
  HostMatrix<std::complex<double>> channel(n, n), y(n, x.cols());
  std::copy_n(h.data(), h.size(), channel.data());
  std::copy_n(x.data(), x.size(), y.data());
  const Detection best =
      mimo_detect(g, {n, n, x.cols(), 0}, channel, y,
                  std::vector<Constellation>(static_cast<std::size_t>(n), amplitudes), {.form = SearchForm::complex});
  index_t count = 0;
  for (index_t k = 0; k < x.cols(); ++k) {
    bool same = true;
    for (index_t j = 0; j < n; ++j)
      same = same && axis.labels[static_cast<std::size_t>(best.labels(j, k))] == found.labels(j, k);
    count += same || (best.reports[static_cast<std::size_t>(k)].flags & SearchReport::tie) != 0 ? 0 : 1;
  }
  return count;
}

}  // namespace tesela
