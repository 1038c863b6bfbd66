#pragma once

#include <tesela/codelets/toeplitz/cauchy.hpp>
#include <tesela/runtime/codelet.hpp>

namespace tesela::kernels::cauchy {

/// Destination of a block's factors: see CauchyFactor.
template <class T>
struct CauchyFactors {
  T* l;
  index_t ld;
  T *pivots, *order;
};

/// Runs CauchyFactor on a core; `report` is CauchyReport::rows numbers. Internal to codelets/.
template <class T>
void factor(const In<T>& c, double sigma, int part, const CauchyFactors<T>& kept, double* report);

/// Runs CauchyInvert on a core for one block and one shift; `report` is CauchyReport::rows numbers.
template <class T>
void invert_part(const In<T>& c, double sigma, int part, const Out<T>& inverse, double* report);

}  // namespace tesela::kernels::cauchy
