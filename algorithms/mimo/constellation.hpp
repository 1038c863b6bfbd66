#pragma once

#include <tesela/algorithms/support/named.hpp>
#include <tesela/runtime/types.hpp>

#include <complex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tesela {

/// The points of a stream, indexed by their labels 0 … size - 1.
struct Constellation {
  std::string name;                          ///< bpsk, qpsk, 16qam and so on
  std::vector<std::complex<double>> points;  ///< points of labels 0, 1, …; their number is a power of two
  bool alternating = false;                  ///< signals 1, 3, 5, … have these points times i (pi/2-bpsk)

  index_t size() const { return static_cast<index_t>(points.size()); }
  /// Returns the bits per label; the first bit is the most significant.
  int bits() const;
  /// Returns the mean of |s|^2.
  double energy() const;
  /// The constellation as a product of two axes: the real amplitudes of each axis, ascending and evenly spaced, with
  /// their parts of the label. A point is re[i] + i im[k], its label re.labels[i] + im.labels[k].
  struct Axis {
    double low = 0, step = 0;  ///< least amplitude, and distance of neighbours
    std::vector<int> labels;   ///< parts of the label, by amplitude
  };
  struct Product {
    Axis re, im;  ///< axes of the real and the imaginary part
  };
  std::vector<Product> product() const;  ///< one element, or none if the constellation is not such a product
};

/// Standard constellations.
enum class ConstellationKind : std::uint8_t {
  bpsk,      ///< two points on the diagonal
  pi2_bpsk,  ///< bpsk, times i for signals 1, 3, 5, …, for all streams or none
  qpsk,      ///< four points, one per quadrant
  psk8,      ///< eight points on the circle, from angle 0
  qam16,     ///< a square of 4 x 4
  qam64,     ///< a square of 8 x 8
  qam256,    ///< a square of 16 x 16
  qam1024    ///< a square of 32 x 32
};

/// Returns the standard constellations with their names.
std::span<const Named<ConstellationKind>> constellation_kinds();

/// Returns the standard constellation of this name in any letter case, also as "16-QAM" or "QAM16".
std::optional<ConstellationKind> find_constellation(std::string_view name);

/// Returns a constellation of unit mean energy with Gray labels. All except 8psk follow 3GPP TS 38.211, 5.1 (bpsk on
/// the diagonal); 8psk starts at angle 0.
Constellation constellation(ConstellationKind kind);

/// Reads a file of lines `re im label`, in any order, with comments after # or %. The number of points must be a power
/// of two, 2 to 1024, and each label 0, 1, … must occur once. The energy is not normalized. Throws FileError, with the
/// line.
Constellation read_constellation(const std::string& path);

/// Returns the constellations of a comma-separated list of names of find_constellation() and files: one for all
/// streams, or one for each. Throws ArgumentError of `routine` for a list of another length, and FileError.
std::vector<Constellation> parse_constellations(const std::string& routine, const std::string& text, index_t streams);

}  // namespace tesela
