#pragma once

#include <tesela/algorithms/mimo/constellation.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <complex>
#include <string>
#include <vector>

namespace tesela {

/// Kinds of generated channels. All except `zero` have unit mean variance per entry.
enum class ChannelKind : std::uint8_t {
  rayleigh,    ///< independent complex normal entries
  correlated,  ///< L_r G L_t^H with G as `rayleigh`, L L^H = (rho^|i - j|): exponential correlation on both sides
  kappa,       ///< geometric singular values from 1 to 1/kappa, random singular vectors
  rank,        ///< product of Nr x rank and rank x Nt matrices as `rayleigh`
  zero,        ///< all entries are 0
};
/// Returns the kinds with their names.
std::span<const Named<ChannelKind>> channel_kinds();

/// A kind of channel with its parameter.
struct ChannelChoice {
  ChannelKind kind = ChannelKind::rayleigh;
  double parameter = 0;  ///< rho, kappa or rank
};

/// Parses "rayleigh", "correlated:0.7", "kappa:100", "rank:1" or "zero". Throws ArgumentError unless 0 <= rho < 1,
/// kappa >= 1 and rank >= 1.
ChannelChoice parse_channel(const std::string& routine, const std::string& text);

/// Sizes of y = H s + v: Nt streams, Nr antennas. Channel k / coherence transmits signal k; coherence 0 means one
/// channel for all signals.
struct MimoShape {
  index_t streams = 0, antennas = 0, signals = 0, coherence = 0;
  /// Return the number of channels, and the channel of a signal.
  index_t channels() const { return coherence == 0 ? 1 : ceil_div(signals, coherence); }
  index_t channel_of(index_t signal) const { return coherence == 0 ? 0 : signal / coherence; }
};

/// Returns the channels, Nr x (Nt K), channel c in columns c Nt …. The first channels of a seed do not depend on K.
template <class T>
HostMatrix<std::complex<T>> random_channels(const MimoShape& shape, const ChannelChoice& choice, std::uint64_t seed);

/// Returns uniform labels, Nt x signals.
HostMatrix<int> random_labels(const MimoShape& shape, const std::vector<Constellation>& alphabets, std::uint64_t seed);

/// Returns the received signals, Nr x signals: y = H s + v with complex normal v of variance n0 per antenna, summed in
/// double precision.
template <class T>
HostMatrix<std::complex<T>> received(const MimoShape& shape, const HostMatrix<std::complex<T>>& channels,
                                     const std::vector<Constellation>& alphabets, const HostMatrix<int>& labels,
                                     double n0, std::uint64_t seed);

/// Returns whether the constellations alternate. Throws ArgumentError if only some do.
bool alternates(const std::vector<Constellation>& alphabets);

/// Returns alternating constellations as constant ones, which belong to the signals of turned_back().
std::vector<Constellation> constant_of(std::vector<Constellation> alphabets);

/// Returns y with its signals of odd number divided by i, exactly; its columns have the numbers first, first + 1, ….
template <class T>
HostMatrix<std::complex<T>> turned_back(const HostMatrix<std::complex<T>>& y, index_t first = 0);

/// A real channel and its signals: x = H s + v. H is the leading n x n part of [Re G, -Im G; Im G, Re G] with G as
/// `rayleigh`, v is normal with variance n0 / 2, and s holds amplitudes of square QAM, whose indices on the axis are
/// `sent` (n x signals). random_real_signals throws ArgumentError for other constellations.
struct RealSignals {
  HostMatrix<double> h, x;  ///< H, n x n, and x, n x signals
  HostMatrix<int> sent;
};
RealSignals random_real_signals(index_t n, index_t signals, const Constellation& alphabet, double n0,
                                std::uint64_t seed);

/// Returns N0 = 1 / (Eb/N0 log2 |A|) for Eb/N0 in dB; with several alphabets the mean number of bits.
double noise_variance(double ebn0_db, const std::vector<Constellation>& alphabets);

/// Whitens coloured noise in place: for noise of covariance C = L L^H, y = H s + v becomes L^-1 y = L^-1 H s + L^-1 v
/// with variance 1 at each antenna. C is Nr x Nr. Throws ArgumentError, with the place, if C is not Hermitian, not
/// finite or not positive definite.
template <class T>
void whiten(const HostMatrix<std::complex<double>>& covariance, HostMatrix<std::complex<T>>& channels,
            HostMatrix<std::complex<T>>& y);

}  // namespace tesela
