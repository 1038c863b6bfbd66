#pragma once

#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/scalar.hpp>
#include <tesela/runtime/types.hpp>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

// Common parts of LAPACK calls.

namespace tesela::lapack {

inline int narrow(const char* routine, index_t n) {
  if (n > std::numeric_limits<int>::max())
    throw ArgumentError(std::string("lapack::") + routine, "size", std::to_string(n) + " exceeds LAPACK's integers");
  return static_cast<int>(n);
}

/// Calls f(work, lwork) twice: to ask for the size of its workspace, and with that workspace.
template <class T, class F>
void with_workspace(F f) {
  T size = 0;
  f(&size, -1);
  // LAPACK's size, in single precision, may have been rounded down.
  const real_t<T> wanted = real_part(size);
  std::vector<T> work(static_cast<std::size_t>(wanted + wanted / 1024) + 1);
  f(work.data(), static_cast<int>(std::min<std::size_t>(work.size(), std::numeric_limits<int>::max())));
}

/// Throws if the workspace of divide and conquer with vectors, 2 n^2 + 6 n + 1 numbers, exceeds the 32 bits in which
/// LAPACK counts it: LAPACK would ask for too little and write beyond it.
inline void require_workspace(const char* routine, index_t n) {
  static_cast<void>(narrow(routine, n));
  if (2 * n * n + 6 * n + 1 > std::numeric_limits<int>::max())
    throw ArgumentError(std::string("lapack::") + routine, "n",
                        std::to_string(n) + ": with eigenvectors its workspace exceeds LAPACK's 32 bits");
}

/// Does the same for info = f(work, lwork, iwork, liwork), and returns info.
template <class T, class F>
int with_workspaces(F f) {
  int info = 0, integers = 0;
  std::vector<int> iwork;
  with_workspace<T>([&](T* work, int lwork) {
    if (info != 0) return;
    info = lwork < 0 ? f(work, lwork, &integers, -1) : f(work, lwork, iwork.data(), integers);
    iwork.resize(static_cast<std::size_t>(integers));
  });
  return info;
}

}  // namespace tesela::lapack
