#pragma once

#include <tesela/algorithms/toeplitz/internal/spectrum_options.hpp>
#include <tesela/codelets/toeplitz/lanczos/lanczos.hpp>
#include <tesela/codelets/toeplitz/lanczos/ritz.hpp>

namespace tesela::detail {

/// An interval to be searched, with its shift.
struct SearchJob {
  SpectrumInterval interval;
  index_t attempt = 0;
  double shift = 0;
};

/// Returns scratch for steps, Ritz pairs and the quality of inverses.
template <class T>
Tile<T> lanczos_scratch(Graph& g, index_t n, const SpectrumOptions& options) {
  const Shape shape = kernels::lanczos_work(n, krylov_limit(n, options), options.group);
  return g.scratch<T>(shape.rows, shape.cols);
}

}  // namespace tesela::detail
