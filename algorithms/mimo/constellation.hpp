#pragma once

#include <tesela/algorithms/support/named.hpp>
#include <tesela/runtime/types.hpp>

#include <complex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tesela {

/// The points that one stream may send, by their labels 0 … size - 1.
struct Constellation {
  std::string name;
  std::vector<std::complex<double>> points;  ///< of label 0, 1, …; 2, 4, 8, … of them

  index_t size() const { return static_cast<index_t>(points.size()); }
  /// Bits of a label; its first bit is the most significant.
  int bits() const;
  /// The mean of |s|^2.
  double energy() const;
  /// The real amplitudes of either axis in ascending order, and what each adds to a label: a point is re[i] + i im[k],
  /// its label re_label[i] + im_label[k]. Empty where a constellation is no such product of evenly spaced amplitudes.
  struct Axis {
    double low = 0, step = 0;
    std::vector<int> labels;
  };
  struct Product {
    Axis re, im;
  };
  std::vector<Product> product() const;  ///< one, or none
};

enum class ConstellationKind : std::uint8_t { bpsk, qpsk, psk8, qam16, qam64, qam256, qam1024 };
std::span<const Named<ConstellationKind>> constellation_kinds();

/// Unit mean energy and Gray labels: all but 8psk as 3GPP TS 38.211, 5.1 has them (bpsk on the diagonal); 8psk, which
/// it lacks, from angle 0.
Constellation constellation(ConstellationKind kind);

/// A file of lines `re im label`, in any order, # and % before comments: as many points as a power of two, 2 to 1024,
/// labels 0, 1, … once each. They are taken as they are, of whatever energy. Throws FileError, with the line.
Constellation read_constellation(const std::string& path);

/// One of constellation_kinds() or a file's name; a comma between several. One for all streams, or a list of one for
/// each. Throws ArgumentError of `routine` for a list of another length, and FileError.
std::vector<Constellation> parse_constellations(const std::string& routine, const std::string& text, index_t streams);

}  // namespace tesela
