#pragma once

#include <tesela/tiles/block_cyclic.hpp>
#include <tesela/tiles/generator.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <string>

namespace tesela {

/// A dense test matrix.
struct RandomMatrix {
  Pattern pattern = Pattern::uniform;
  index_t half_width = 0;     ///< of a band
  double condition = 0;       ///< not 0: known singular values, from 1 down to 1 / condition
  index_t rank = -1;          ///< not negative: so many singular values of 1, and zeros
  bool elementwise() const {  ///< whether generator() makes it
    return condition == 0 && rank < 0;
  }
  /// Of an elementwise one: for `fill`, on any worker.
  template <class T>
  Generator<T> generator(std::uint64_t seed) const {
    return {pattern, T(0), 0, seed, 0, half_width};
  }
};

/// What a command's --random names ("kappa:1e6"), with what there is in one line. Throws ArgumentError for anything
/// else.
RandomMatrix parse_random_kind(const std::string& text, const char* option = "--random");
const char* random_kinds();

/// The matrix on the host. Those of known singular values are a kernels::ProductForm; a rank above min(m, n) means full
/// rank.
template <class T>
HostMatrix<T> generate(Shape shape, const RandomMatrix& matrix, std::uint64_t seed);

/// What of it this rank has.
template <class T>
HostMatrix<T> generate(const BlockCyclic& part, const RandomMatrix& matrix, std::uint64_t seed);

}  // namespace tesela
