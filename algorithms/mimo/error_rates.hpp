#pragma once

#include <tesela/algorithms/mimo/constellation.hpp>

#include <optional>
#include <vector>

namespace tesela {

/// Returns the mean of Q(sqrt(2 snr x)), where x is the sum of D = `diversity` exponential variables of mean 1: ((1 -
/// mu)/2)^D sum_{k < D} C(D - 1 + k, k) ((1 + mu)/2)^k with mu = sqrt(snr / (1 + snr)) (Proakis, Digital
/// Communications).
double rayleigh_error(double snr, index_t diversity);

/// Returns the bit error rate of zf for square QAM or QPSK in independent Rayleigh fading that is known to the
/// receiver; nothing for other constellations. The diversity is D = Nr - Nt + 1, for a single stream Nr. Source: Cho
/// and Yoon's exact sum for Gray labels (2002), averaged over the fading.
std::optional<double> qam_bit_error(const Constellation& alphabet, double n0, index_t diversity);

/// Upper bounds of the exact detector's error rates in such fading: sums of rayleigh_error(||e||^2 / (4 N0), Nr) over
/// all pairs of vectors, for bits weighted by the number of different bits. They may exceed 1.
struct UnionBound {
  double vectors = 0, bits = 0;
};
UnionBound union_bound(const std::vector<Constellation>& alphabets, double n0, index_t antennas);

}  // namespace tesela
