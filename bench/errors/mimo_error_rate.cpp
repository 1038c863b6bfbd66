#include "bench/errors/mimo_error_rate.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

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

double MimoErrorRate::deviation() const {
  if (groups_ < 2) return bit_rate();
  const double mean = bits_ / groups_;
  return std::sqrt(std::fmax(squares_ / groups_ - mean * mean, 0) / (groups_ - 1)) * groups_ / sent_bits_;
}

double MimoErrorRate::low() const { return std::max(0.0, bit_rate() - 1.96 * deviation()); }
double MimoErrorRate::high() const {
  return std::min(1.0, bits_ > 0 ? bit_rate() + 1.96 * deviation() : groups_ > 0 ? 3 / groups_ : 1.0);
}

}  // namespace tesela
