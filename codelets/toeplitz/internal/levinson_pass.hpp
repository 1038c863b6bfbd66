#pragma once

#include <tesela/runtime/scalar.hpp>

// One step of Levinson's recursion: order k's x and y become order k + 1's, and the same pass over memory computes the
// sums over both for the next step. Internal to codelets/toeplitz.

namespace tesela::kernels {

/// Computes x(j) += mu conj(y(k - 1 - j)), y(j) += alpha conj(y(k - 1 - j)), j < k. sum_x and sum_y become the sums
/// over j of back(j) times the new x and y; back(j) = t(k + 1 - j), whose k numbers are contiguous.
template <class T>
struct LevinsonPass {
  index_t k;
  const T* back;
  T* y;
  T alpha = 0;
  T* x = nullptr;
  T mu = 0;
  T sum_x = 0, sum_y = 0;
};

/// Updates x alone, y alone, or both.
template <class T>
void update_x(LevinsonPass<T>& pass);
template <class T>
void update_y(LevinsonPass<T>& pass);
template <class T>
void update_both(LevinsonPass<T>& pass);

}  // namespace tesela::kernels
