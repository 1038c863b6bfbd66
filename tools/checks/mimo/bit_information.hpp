#pragma once

#include <tesela/algorithms/mimo/constellation.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <cmath>
#include <vector>

namespace tesela::bench {

/// Mutual information per sent bit of likelihoods: the mean of 1 - log2(1 + exp(-L)), with the sign of L such that
/// positive values favour the sent bit.
struct BitInformation {
  double sum = 0, bits = 0;
  double mean() const { return bits > 0 ? sum / bits : 0; }

  template <class T>
  void add(const std::vector<Constellation>& alphabets, const HostMatrix<int>& sent, const HostMatrix<T>& llrs) {
    for (index_t k = 0; k < llrs.cols(); ++k) {
      index_t place = 0;
      for (index_t j = 0; j < sent.rows(); ++j)
        for (int bit = alphabets[static_cast<std::size_t>(j)].bits(); bit-- > 0; ++place) {
          const double l = static_cast<double>(llrs(place, k)) * ((sent(j, k) >> bit & 1) != 0 ? -1 : 1);
          // ln(1 + e^-l) without overflow
          sum += 1 - (std::fmax(-l, 0.0) + std::log1p(std::exp(-std::abs(l)))) / std::log(2.0);
          ++bits;
        }
    }
  }
};

}  // namespace tesela::bench
