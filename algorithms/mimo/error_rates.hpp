#pragma once

#include <tesela/algorithms/mimo/constellation.hpp>

#include <optional>
#include <vector>

namespace tesela {

/// The mean of Q(sqrt(2 snr x)) over x, a sum of `diversity` exponential variables of mean 1: ((1 - mu)/2)^D
/// sum_{k < D} C(D - 1 + k, k) ((1 + mu)/2)^k with mu = sqrt(snr / (1 + snr)) (Proakis, Digital Communications).
double rayleigh_error(double snr, index_t diversity);

/// The bit error rate of square QAM or QPSK by zf, in Rayleigh fading that is independent from entry to entry and
/// known, with diversity D = Nr - Nt + 1; of one stream alone D = Nr. Cho and Yoon's exact sum for Gray labels (2002),
/// averaged over the fading. Nothing for other constellations.
std::optional<double> qam_bit_error(const Constellation& alphabet, double n0, index_t diversity);

/// No larger are the exact detector's rates in such fading: sums over all pairs of vectors of rayleigh_error(||e||^2 /
/// (4 N0), Nr), once for each pair, and for bits by how many of them differ. May be larger than 1.
struct UnionBound {
  double vectors = 0, bits = 0;
};
UnionBound union_bound(const std::vector<Constellation>& alphabets, double n0, index_t antennas);

}  // namespace tesela
