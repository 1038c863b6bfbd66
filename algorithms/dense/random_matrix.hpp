#pragma once

#include <tesela/tiles/block_cyclic.hpp>
#include <tesela/tiles/generator.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <string>

namespace tesela {

/// Description of a dense test matrix.
struct RandomMatrix {
  Pattern pattern = Pattern::uniform;
  index_t half_width = 0;     ///< half-width of a band
  double condition = 0;       ///< if not 0, singular values decrease from 1 to 1 / condition
  index_t rank = -1;          ///< if not negative, the number of singular values 1; the others are 0
  bool elementwise() const {  ///< whether generator() produces the matrix
    return condition == 0 && rank < 0;
  }
  /// Returns the generator of an elementwise matrix, for `fill` on any worker.
  template <class T>
  Generator<T> generator(std::uint64_t seed) const {
    return {pattern, T(0), 0, seed, 0, half_width};
  }
};

/// Parses the argument of --random, such as "kappa:1e6"; random_kinds() lists all of them in one line. Throws
/// ArgumentError for other texts.
RandomMatrix parse_random_kind(const std::string& text, const char* option = "--random");
const char* random_kinds();

/// Returns the matrix in host memory. A matrix with given singular values is a kernels::ProductForm; a rank above
/// min(m, n) means full rank.
template <class T>
HostMatrix<T> generate(Shape shape, const RandomMatrix& matrix, std::uint64_t seed);

/// Returns the part of the matrix on this rank.
template <class T>
HostMatrix<T> generate(const BlockCyclic& part, const RandomMatrix& matrix, std::uint64_t seed);

}  // namespace tesela
