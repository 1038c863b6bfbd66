#pragma once

#include <tesela/codelets/support/internal/device_scalar.cuh>
#include <tesela/tiles/generator.hpp>

namespace tesela::kernels {

/// Returns a generator of the same numbers for GPU kernels.
template <class T>
Generator<device_t<T>> device_generator(const Generator<T>& g) {
  return {g.pattern, device_number(g.value), g.columns, g.seed, g.rows, g.half_width};
}

}  // namespace tesela::kernels
