#pragma once

#include <tesela/algorithms/toeplitz/internal/toeplitz_points.hpp>

#include <limits>
#include <vector>

// Certification of computed eigenvalues, independent of the method. Not part of the interface.
namespace tesela::detail {

/// The statement that T has an eigenvalue within `radius` of `value` with a vector of `part`: a Rayleigh quotient and
/// its residual.
struct Claim {
  double value = 0, radius = 0;
  std::size_t part = 0;
  bool by_count = false;  ///< comes from a count instead of a pair, and must be verified
  bool own = false;  ///< one of many values that are within their radii of distinct eigenvalues, but are not quotients
  double error = std::numeric_limits<double>::infinity();  ///< bound of |value - eigenvalue|, once certified
  double low = 0, high = 0;  ///< union of this claim's interval and the intervals that it meets
};

/// Proves that the claims belong to distinct eigenvalues, and that these are all eigenvalues in the range. Returns the
/// number of claims that could not be certified, or the difference of the numbers.
///
/// Method  A claim whose interval meets no other of its part belongs to a distinct eigenvalue. If claims meet, or reach
///         beyond the range, a count must find as many eigenvalues in the union of their intervals, within the range.
///         If there are as many claims as eigenvalues in the range, none is missing, and Claim::error becomes a bound.
///         It is the radius or, if the next eigenvalues are a gap away, radius^2 / gap (T. Kato 1949, G. Temple 1928),
///         both up to two resolutions for the rounding of C and of the counts. For claims that met it is the width of
///         their union, for `own` claims always the radius.
template <class T>
index_t certify(Graph& g, const SineToeplitz<T>& A, const CountedRange& range, std::vector<Claim>& claims,
                index_t* counts, const CountOptions& options = {});

/// Returns the largest number of claims for pin(): few if LAPACK would repeat the computation sooner. For large orders
/// there is no alternative, and a hundred counts take only a part of the search time.
constexpr std::size_t most_refined_claims(index_t n) { return n > 16384 ? static_cast<std::size_t>(n / 256) : 64; }

/// Refines certified claims whose error exceeds `enough` by counting, unless there are more than most_refined_claims():
/// bisects their intervals down to half of `enough`, or four resolutions. Value, radius and error become those of the
/// final piece. For the other claims, a radius above `widest` is replaced by the error, which is a valid radius too.
template <class T>
void pin(Graph& g, const SineToeplitz<T>& A, std::vector<Claim>& claims, double enough, double widest, index_t* counts,
         const CountOptions& options = {});

}  // namespace tesela::detail
