#pragma once

#include <tesela/algorithms/toeplitz/internal/toeplitz_points.hpp>

#include <limits>
#include <vector>

// Judging what came out of a search for eigenvalues by itself, whatever led there; no part of the interface.
namespace tesela::detail {

/// "T has an eigenvalue within `radius` of `value`, of a vector of this part": a pair's Rayleigh quotient and residual.
struct Claim {
  double value = 0, radius = 0;
  std::size_t part = 0;
  bool by_count = false;  ///< not of a pair: somebody's count says so, which is not believed
  bool own = false;       ///< of one of many that are within their radii of an eigenvalue each, but of no quotient
  double error = std::numeric_limits<double>::infinity();  ///< |value - eigenvalue| at most, once certified
  double low = 0, high = 0;                                ///< what the claims that it meets cover, itself among them
};

/// Whether the claims are about different eigenvalues, and all there are in the range. A claim whose interval meets no
/// other of its part is about an eigenvalue of its own. Of claims that meet, or reach beyond the range, as many must be
/// counted in what they cover of it. When there are as many claims as eigenvalues in the range, none is missing, and
/// Claim::error becomes a bound: the radius, or where the next eigenvalues are a gap away, radius^2 / gap (T. Kato
/// 1949, G. Temple 1928; both up to two resolutions, which is what C's rounding and the counts' are); of those that
/// met, the width of what they cover, but for `own` ones their radius in any case. Answers how many claims could not be
/// certified, or how many are too few or too many.
template <class T>
index_t certify(Graph& g, const SineToeplitz<T>& A, const CountedRange& range, std::vector<Claim>& claims,
                index_t* counts, const CountOptions& options = {});

/// How many claims pin() takes: where LAPACK finds everything again sooner, few; at large orders nothing else is left,
/// and a hundred counts take a part of the time that the search takes.
constexpr std::size_t most_pinned(index_t n) { return n > 16384 ? static_cast<std::size_t>(n / 256) : 64; }

/// Certified claims whose error is above `enough` are pinned down by counting: where they are for certain is halved
/// again and again to half of `enough`, or four resolutions, and value, radius and error become those of the piece that
/// is left. Not where there are more than most_pinned(). Of others a radius above `widest` becomes their
/// error, which is a radius too.
template <class T>
void pin(Graph& g, const SineToeplitz<T>& A, std::vector<Claim>& claims, double enough, double widest, index_t* counts,
         const CountOptions& options = {});

}  // namespace tesela::detail
