#pragma once

#include <tesela/codelets/toeplitz/cauchy.hpp>

// The GPU's side of the Cauchy-like eliminations. Internal to codelets/.

namespace tesela::kernels::cauchy {

/// What CauchyInvert and CauchyCount are given, on the device. `inverse` may be null.
template <class T>
struct DeviceSweep {
  const T* c;
  index_t ld_c, n;
  const double* sigma;
  index_t shifts;
  T* inverse;
  index_t ld_inverse;
  double* report;
  index_t ld_report;
  T* table;  ///< cauchy_table(n) elements to work with
};

/// Enqueues the whole on a stream; returns a cudaError_t.
template <class T>
int sweep(void* stream, const DeviceSweep<T>& in);

}  // namespace tesela::kernels::cauchy
