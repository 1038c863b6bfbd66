#pragma once

#include <tesela/algorithms/mimo/constellation.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <complex>
#include <string>
#include <vector>

namespace tesela {

/// How the entries of a generated channel are drawn; all but `zero` have unit variance in the mean.
enum class ChannelKind : std::uint8_t {
  rayleigh,    ///< independent complex normal entries
  correlated,  ///< L_r G L_t^H with G of `rayleigh`, L L^H = (rho^|i - j|): exponential correlation on both sides
  kappa,       ///< singular values in a geometric row from 1 to 1/kappa, random singular vectors
  rank,        ///< a product of Nr x rank and rank x Nt matrices of `rayleigh`
  zero,
};
std::span<const Named<ChannelKind>> channel_kinds();

struct ChannelChoice {
  ChannelKind kind = ChannelKind::rayleigh;
  double parameter = 0;  ///< rho, kappa or the rank
};

/// "rayleigh", "correlated:0.7", "kappa:100", "rank:1", "zero". Throws ArgumentError: 0 <= rho < 1, kappa >= 1, a rank
/// of 1 or more.
ChannelChoice parse_channel(const std::string& routine, const std::string& text);

/// y = H s + v: Nr antennas receive what Nt streams send. Signal k passes channel k / coherence; 0: one for all.
struct MimoShape {
  index_t streams = 0, antennas = 0, signals = 0, coherence = 0;
  index_t channels() const { return coherence == 0 ? 1 : ceil_div(signals, coherence); }
  index_t channel_of(index_t signal) const { return coherence == 0 ? 0 : signal / coherence; }
};

/// Nr x (Nt K), channel c in columns c Nt …: the same numbers for a seed, whatever K is.
template <class T>
HostMatrix<std::complex<T>> random_channels(const MimoShape& shape, const ChannelChoice& choice, std::uint64_t seed);

/// Nt x signals: uniform labels.
HostMatrix<int> random_labels(const MimoShape& shape, const std::vector<Constellation>& alphabets, std::uint64_t seed);

/// Nr x signals: y = H s + v, v complex normal of variance n0 at each antenna; summed in double.
template <class T>
HostMatrix<std::complex<T>> received(const MimoShape& shape, const HostMatrix<std::complex<T>>& channels,
                                     const std::vector<Constellation>& alphabets, const HostMatrix<int>& labels,
                                     double n0, std::uint64_t seed);

/// One channel in real form, and what comes through it: x = H s + v, H the leading n x n part of [Re G, -Im G; Im G, Re
/// G] with G of `rayleigh`, v normal of variance n0 / 2, s of a square QAM's amplitudes, places on whose axis `sent` is
/// (n x signals). Throws ArgumentError for other constellations.
struct RealSignals {
  HostMatrix<double> h, x;
  HostMatrix<int> sent;
};
RealSignals random_real_signals(index_t n, index_t signals, const Constellation& alphabet, double n0,
                                std::uint64_t seed);

/// N0 = 1 / (Eb/N0 log2 |A|), Eb/N0 in dB; of a list of alphabets the mean of the bits.
double noise_variance(double ebn0_db, const std::vector<Constellation>& alphabets);

}  // namespace tesela
