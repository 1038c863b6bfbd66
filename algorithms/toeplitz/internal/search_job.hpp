#pragma once

#include <tesela/algorithms/toeplitz/internal/spectrum_options.hpp>
#include <tesela/codelets/toeplitz/lanczos.hpp>
#include <tesela/codelets/toeplitz/ritz.hpp>

namespace tesela::detail {

/// An interval whose eigenvalues are to be found, with the shift it is tried at.
struct SearchJob {
  SpectrumInterval interval;
  index_t attempt = 0;
  double shift = 0;
};

/// Scratch of steps, Ritz pairs and the inverses' quality.
template <class T>
Tile<T> lanczos_scratch(Graph& g, index_t n, const SpectrumOptions& options) {
  const Shape shape = kernels::lanczos_work(n, krylov_limit(n, options), options.group);
  return g.scratch<T>(shape.rows, shape.cols);
}

}  // namespace tesela::detail
