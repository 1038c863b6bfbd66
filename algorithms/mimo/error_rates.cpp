#include <tesela/algorithms/mimo/error_rates.hpp>

#include <bit>
#include <cmath>
#include <map>

namespace tesela {

double rayleigh_error(double snr, index_t diversity) {
  const double mu = std::sqrt(snr / (1 + snr));
  const double wrong = 0.5 / (1 + snr) / (1 + mu);  // (1 - mu) / 2 without cancellation
  const double right = (1 + mu) / 2;
  double sum = 0, term = 1;
  for (index_t k = 0; k < diversity; ++k) {
    sum += term;
    term *= right * static_cast<double>(diversity + k) / static_cast<double>(k + 1);
  }
  return std::pow(wrong, static_cast<double>(diversity)) * sum;
}

std::optional<double> qam_bit_error(const Constellation& alphabet, double n0, index_t diversity) {
  const auto product = alphabet.product();
  if (product.empty() || std::abs(alphabet.energy() - 1) > 1e-9) return std::nullopt;
  // Only constellations with the Gray labels of the standard, equal on both axes.
  for (const auto& kind : constellation_kinds())
    if (const Constellation known = constellation(kind.value); known.points == alphabet.points) {
      const int bits = alphabet.bits() / 2;
      const double levels = std::pow(2.0, bits);
      const double unit = 3 / (2 * (levels * levels - 1)) / n0;  // half a step squared over N0
      double sum = 0;
      for (int k = 1; k <= bits; ++k) {
        const double power = std::pow(2.0, k - 1);
        const auto terms = static_cast<index_t>(std::lround((1 - std::pow(2.0, -k)) * levels));
        for (index_t i = 0; i < terms; ++i) {
          const double part = static_cast<double>(i) * power / levels;
          const double sign = std::fmod(std::floor(part), 2.0) == 0 ? 1 : -1;
          const auto odd = static_cast<double>(2 * i + 1);
          sum += sign * (power - std::floor(part + 0.5)) * 2 * rayleigh_error(odd * odd * unit, diversity) / levels;
        }
      }
      return sum / bits;
    }
  return std::nullopt;
}

UnionBound union_bound(const std::vector<Constellation>& alphabets, double n0, index_t antennas) {
  /// Pairs at one distance: their number per vector, and the number of different bits.
  struct Pairs {
    double square, count, bits;
  };
  const auto key = [](double square) { return std::llround(square * 1e9); };
  std::map<long long, Pairs> all{{0, {0, 1, 0}}};
  double bits = 0;
  for (const Constellation& c : alphabets) {
    std::map<long long, Pairs> one, next;
    const double weight = 1 / static_cast<double>(c.size());
    for (std::size_t a = 0; a < c.points.size(); ++a)
      for (std::size_t b = 0; b < c.points.size(); ++b) {
        const double square = std::norm(c.points[a] - c.points[b]);
        Pairs& p = one.try_emplace(key(square), Pairs{square, 0, 0}).first->second;
        p.count += weight, p.bits += weight * std::popcount(a ^ b);
      }
    for (const auto& [x, p] : all)
      for (const auto& [y, q] : one) {
        Pairs& sum = next.try_emplace(key(p.square + q.square), Pairs{p.square + q.square, 0, 0}).first->second;
        sum.count += p.count * q.count;
        sum.bits += p.bits * q.count + p.count * q.bits;
      }
    all = std::move(next);
    bits += c.bits();
  }
  UnionBound bound;
  for (const auto& [k, p] : all) {
    if (k == 0) continue;
    const double wrong = rayleigh_error(p.square / (4 * n0), antennas);
    bound.vectors += p.count * wrong;
    bound.bits += p.bits * wrong / bits;
  }
  return bound;
}

}  // namespace tesela
