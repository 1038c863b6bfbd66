#pragma once

#include "tools/app/runs.hpp"
#include "tools/problems/qr/qr_method.hpp"
#include <tesela/tiles/host_matrix.hpp>

namespace tesela::cli {

/// X, n x r, and U, p x r; not `regular` where a triangle had a zero on its diagonal.
template <class T>
struct LibraryModel {
  HostMatrix<T> X, U;
  bool regular = true;
};

/// Solves min ||u|| with b = A x + B u by a vendor's library. Its calls are timed before a Runtime exists, whose
/// workers would use its cores: "lapack", ggglm for one right-hand side after the other, or "cusolver", its pieces on
/// device 0. Throws ArgumentError unless n <= m <= n + p, EnvironmentError if there is no device for it.
template <class T>
LibraryModel<T> time_glm_library(const char* command, const CommonOptions& common, const QrMethod& method,
                                 const HostMatrix<T>& A, const HostMatrix<T>& B, const HostMatrix<T>& b, Timed& runs);

}  // namespace tesela::cli
