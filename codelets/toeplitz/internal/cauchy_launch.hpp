#pragma once

#include <tesela/codelets/toeplitz/cauchy.hpp>

// GPU launches of the Cauchy-like eliminations. Internal to codelets/.

namespace tesela::kernels::cauchy {

/// Arguments of CauchyInvert and CauchyCount on the device. `inverse` may be null.
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
  T* table;  ///< cauchy_table(n) elements of work space
};

/// Enqueues the whole elimination on a stream; returns a cudaError_t.
template <class T>
int sweep(void* stream, const DeviceSweep<T>& in);

}  // namespace tesela::kernels::cauchy
