#pragma once

#include <tesela/algorithms/econometrics/simultaneous_equations.hpp>

#include <functional>
#include <vector>

namespace tesela::bench {

/// Returns a function that computes 2SLS by cuSOLVER on CUDA device 0, outside any graph, from data in host memory:
/// geqrf of all data, then for each equation geqrf of its dense columns, ormqr and a triangular solve. It returns every
/// equation's coefficients. Throws EnvironmentError without a CUDA device, in a build without CUDA and without enough
/// device memory. The arguments must outlive the function.
std::function<std::vector<std::vector<double>>()> cusolver_sem(const HostMatrix<double>& data,
                                                               const SimultaneousModel& model);

}  // namespace tesela::bench
