#include "tools/peers/cusolver_least_squares.hpp"
#include "tools/peers/cusolver_peer.hpp"

#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <algorithm>
#include <cusolverDn.h>
#include <memory>

namespace tesela::bench {
namespace {

using cusolver::bytes_of;

constexpr int threads = 256;

/// Gathers the first rows of the triangle's columns that `columns` names, with zeros below its diagonal.
__global__ void __launch_bounds__(threads)
    gather_kernel(const double* triangle, index_t ld, const int* columns, index_t rows, double* z) {
  const index_t c = columns[blockIdx.x];
  for (index_t i = threadIdx.x; i < rows; i += threads) z[i + blockIdx.x * rows] = i <= c ? triangle[i + c * ld] : 0.0;
}

double* numbers(const DeviceMemory& array) { return array.as<double>(); }

int most_regressors(const SimultaneousModel& model) {
  std::size_t most = 1;
  for (const Equation& e : model.equations) most = std::max(most, e.regressors.size());
  return static_cast<int>(most);
}

struct CusolverSem {
  CusolverSem(const HostMatrix<double>& of_data, const SimultaneousModel& of)
      : host(of_data),
        model(of),
        D(static_cast<int>(host.rows())),
        n(static_cast<int>(host.cols())),
        K(static_cast<int>(of.instruments)),
        most(most_regressors(of)),
        data(bytes_of<double>(host.size())),
        z(bytes_of<double>(of.instruments * (most + 1))),
        tau(bytes_of<double>(std::max(D, n))),
        found(bytes_of<double>(index_t{most} * std::ssize(of.equations))),
        picks(static_cast<std::size_t>(most + 1) * of.equations.size() * sizeof(int)),
        info(sizeof(int)) {
    int of_all = 0, of_equation = 0, of_y = 0;
    check_device(cusolverDnDgeqrf_bufferSize(on.solver, D, n, numbers(data), D, &of_all),
                 "cusolverDnDgeqrf_bufferSize");
    check_device(cusolverDnDgeqrf_bufferSize(on.solver, K, most, numbers(z), K, &of_equation),
                 "cusolverDnDgeqrf_bufferSize");
    check_device(cusolverDnDormqr_bufferSize(on.solver, CUBLAS_SIDE_LEFT, CUBLAS_OP_T, K, 1, most, numbers(z), K,
                                             numbers(tau), numbers(z), K, &of_y),
                 "cusolverDnDormqr_bufferSize");
    work_size = std::max({of_all, of_equation, of_y});
    work = std::make_unique<DeviceMemory>(bytes_of<double>(work_size));
    std::vector<int> columns(static_cast<std::size_t>(most + 1) * of.equations.size());
    for (std::size_t i = 0; i < of.equations.size(); ++i) {
      int* const own = &columns[i * static_cast<std::size_t>(most + 1)];
      const Equation& e = of.equations[i];
      std::transform(e.regressors.begin(), e.regressors.end(), own, [](index_t c) { return static_cast<int>(c); });
      own[e.regressors.size()] = static_cast<int>(e.dependent);
    }
    copy_memory(picks.as<int>(), columns.data(), columns.size() * sizeof(int));
  }

  void solve_equation(std::size_t i) const {
    const int r = static_cast<int>(model.equations[i].regressors.size());
    int* const outcome = info.as<int>();
    double *const Z = numbers(z), *const y = Z + index_t{K} * r,
                  *const b = numbers(found) + static_cast<index_t>(i) * most;
    gather_kernel<<<static_cast<unsigned>(r + 1), threads>>>(
        numbers(data), D, picks.as<int>() + static_cast<index_t>(i) * (most + 1), K, Z);
    check_device(cudaGetLastError(), "gather_kernel");
    check_device(cusolverDnDgeqrf(on.solver, K, r, Z, K, numbers(tau), numbers(*work), work_size, outcome),
                 "cusolverDnDgeqrf");
    check_device(cusolverDnDormqr(on.solver, CUBLAS_SIDE_LEFT, CUBLAS_OP_T, K, 1, r, Z, K, numbers(tau), y, K,
                                  numbers(*work), work_size, outcome),
                 "cusolverDnDormqr");
    check_device(cublasDtrsv(on.blas, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, r, Z, K, y, 1),
                 "cublasDtrsv");
    check_device(cudaMemcpyAsync(b, y, bytes_of<double>(r), cudaMemcpyDeviceToDevice), "cudaMemcpyAsync");
  }

  std::vector<std::vector<double>> solve() const {
    check_device(cudaSetDevice(0), "cudaSetDevice");
    copy_memory(numbers(data), host.data(), bytes_of<double>(host.size()));
    check_device(
        cusolverDnDgeqrf(on.solver, D, n, numbers(data), D, numbers(tau), numbers(*work), work_size, info.as<int>()),
        "cusolverDnDgeqrf");
    for (std::size_t i = 0; i < model.equations.size(); ++i) solve_equation(i);
    std::vector<double> all(static_cast<std::size_t>(most) * model.equations.size());
    copy_memory(all.data(), numbers(found), bytes_of<double>(std::ssize(all)));
    std::vector<std::vector<double>> coefficients;
    for (std::size_t i = 0; i < model.equations.size(); ++i) {
      const double* const own = &all[i * static_cast<std::size_t>(most)];
      coefficients.emplace_back(own, own + model.equations[i].regressors.size());
    }
    return coefficients;
  }

  const HostMatrix<double>& host;
  const SimultaneousModel& model;
  int D, n, K, most, work_size = 0;
  cusolver::Session on;
  DeviceMemory data, z, tau, found, picks, info;
  std::unique_ptr<DeviceMemory> work;
};

}  // namespace

std::function<std::vector<std::vector<double>>()> cusolver_sem(const HostMatrix<double>& data,
                                                               const SimultaneousModel& model) {
  const auto solver = std::make_shared<const CusolverSem>(data, model);
  return [solver] { return solver->solve(); };
}

}  // namespace tesela::bench
