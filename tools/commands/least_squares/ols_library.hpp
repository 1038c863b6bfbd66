#pragma once

#include "tools/app/runs.hpp"
#include "tools/problems/qr/qr_method.hpp"
#include <tesela/algorithms/least_squares/least_squares.hpp>
#include <tesela/tiles/host_matrix.hpp>

namespace tesela::cli {

/// min ||A X - B|| by somebody else's library, a call of which is timed before there is a Runtime, whose workers would
/// take its cores: "lapack", "gelsd" (which alone has an rcond) or "cusolver" (m >= n). Without residual norms. Throws
/// ArgumentError for a shape that it does not solve, EnvironmentError where there is no device for it.
template <class T>
LeastSquares<T> time_ols_library(const char* command, const CommonOptions& common, const QrMethod& method,
                                 const HostMatrix<T>& A, const HostMatrix<T>& B, double rcond, Timed& runs);

}  // namespace tesela::cli
