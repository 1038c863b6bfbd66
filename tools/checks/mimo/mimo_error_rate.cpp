#include "tools/checks/mimo/mimo_error_rate.hpp"

#include <tesela/algorithms/econometrics/regression.hpp>

#include <bit>
#include <boost/math/distributions/chi_squared.hpp>
#include <cmath>
#include <limits>

namespace tesela {

void MimoErrorRate::add(const HostMatrix<int>& found, const HostMatrix<int>& sent, index_t bits, index_t coherence) {
  double together = 0;
  for (index_t k = 0; k < found.cols(); ++k) {
    double wrong = 0;
    for (index_t j = 0; j < found.rows(); ++j) {
      const auto apart = static_cast<unsigned>(found(j, k) ^ sent(j, k));
      wrong += std::popcount(apart), symbols_ += apart != 0 ? 1 : 0;
    }
    vectors_ += wrong > 0 ? 1 : 0, bits_ += wrong, together += wrong;
    if (k + 1 == found.cols() || (coherence > 0 && (k + 1) % coherence == 0))
      ++groups_, squares_ += together * together, together = 0;
  }
  const auto count = static_cast<double>(found.cols());
  signals_ += count;
  sent_bits_ += count * static_cast<double>(bits);
  sent_symbols_ += count * static_cast<double>(found.rows());
}

double MimoErrorRate::events() const {
  if (groups_ < 2 || bits_ == 0) return 0;
  const double mean = bits_ / groups_, variance = std::fmax(squares_ / groups_ - mean * mean, 0) / (groups_ - 1);
  const double few = quantile_of_t(0.975, std::numeric_limits<double>::infinity()) / quantile_of_t(0.975, groups_ - 1);
  return std::fmin(bits_, few * few * mean * mean / variance);
}

double MimoErrorRate::low() const {
  const double k = events();
  return k > 0 ? bit_rate() * quantile(boost::math::chi_squared(2 * k), 0.025) / (2 * k) : 0;
}
double MimoErrorRate::high() const {
  const double k = events();
  if (k > 0) return std::fmin(1, bit_rate() * quantile(boost::math::chi_squared(2 * k + 2), 0.975) / (2 * k));
  return bits_ == 0 && groups_ > 1 ? std::fmin(1, 3 / groups_) : 1;
}

double MimoErrorRate::sigmas(double rate) const {
  return bits_ > 0 ? 2 * std::sqrt(events()) * std::abs(std::sqrt(rate / bit_rate()) - 1) : 0;
}

}  // namespace tesela
