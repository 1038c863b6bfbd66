#pragma once

#include <tesela/codelets/givens/givens_window.hpp>
#include <tesela/runtime/scalar.hpp>

struct CUstream_st;

namespace tesela::kernels {

// Launches for the CUDA variants of plane rotations, in device memory. Each returns a cudaError_t as int.

/// A rotation in shared memory: aligned for few accesses, and without a constructor, which shared memory cannot run.
template <class T>
struct alignas(2 * sizeof(T)) SharedRotation {
  real_t<T> c;
  T s;
};

/// Problem of GivensPanel and GivensChainPanel on the panel's own columns.
template <class T>
struct GivensPanelProblem {
  Pivot pivot = Pivot::adjacent;
  index_t row = 0, m = 0, width = 0;
  T* a = nullptr;  ///< the panel's first column
  index_t lda = 1;
  T* l = nullptr;  ///< copies of the columns; null: no copies
  index_t ldl = 1;
  index_t* info = nullptr;
  unsigned long long* reach = nullptr;  ///< scratch memory
  bool accumulate = false;              ///< info becomes the largest reach so far, and the sum of rotations
};
template <class T>
int givens_panel(CUstream_st* stream, const GivensPanelProblem<T>& problem);

/// Problem of GivensApply.
template <class T>
struct GivensApplyProblem {
  Pivot pivot = Pivot::adjacent;
  Side side = Side::left;
  bool chain = false, forward = true;
  index_t row = 0, m = 0, width = 0, window = 0;
  Strided<const T> source;  ///< its column 0 belongs to the first rotations
  const index_t* info = nullptr;
  Strided<T> c;
  index_t columns = 0;
  int block = 128;
};
template <class T>
int givens_apply(CUstream_st* stream, const GivensApplyProblem<T>& problem);

/// Launches GivensBand.
template <class T>
int givens_band(CUstream_st* stream, index_t m, index_t n, index_t kl, index_t ku, T* ab, index_t ld, index_t* info);

}  // namespace tesela::kernels
