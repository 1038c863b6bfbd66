#include "tools/bench/econometrics/cusolver_sem.hpp"

#include <tesela/runtime/config.hpp>
#include <tesela/runtime/errors.hpp>

#if TESELA_HAVE_CUDA
#include "tools/bench/econometrics/gather_columns.hpp"
#include "tools/peers/cusolver_peer.hpp"

#include <cublas_v2.h>
#include <cuda_runtime.h>
#endif

namespace tesela::bench {

#if TESELA_HAVE_CUDA

using cusolver::bytes_of;
using cusolver::check;
using cusolver::copy;
using cusolver::DeviceArray;

namespace {

index_t most_regressors(const GeneratedModel& model) {
  std::size_t most = 1;
  for (const Equation& e : model.model.equations) most = std::max(most, e.regressors.size());
  return static_cast<index_t>(most);
}

double* numbers(const DeviceArray& array) { return static_cast<double*>(array.data); }

}  // namespace

struct CusolverSem::Impl {
  explicit Impl(const GeneratedModel& of)
      : model(of),
        D(static_cast<int>(of.data.rows())),
        n(static_cast<int>(of.data.cols())),
        K(static_cast<int>(of.model.instruments)),
        most(static_cast<int>(most_regressors(of))),
        data(bytes_of<double>(of.data.size())),
        z(bytes_of<double>(of.model.instruments * (most + 1))),
        tau(bytes_of<double>(std::max(D, n))),
        found(bytes_of<double>(index_t{most} * std::ssize(of.model.equations))),
        picks(static_cast<std::size_t>(most + 1) * of.model.equations.size() * sizeof(int)),
        info(sizeof(int)) {
    check(cublasCreate(blas.out()), "cublasCreate");
    int of_data = 0, of_equation = 0, of_y = 0;
    check(cusolverDnDgeqrf_bufferSize(solver.handle, D, n, numbers(data), D, &of_data), "cusolverDnDgeqrf_bufferSize");
    check(cusolverDnDgeqrf_bufferSize(solver.handle, K, most, numbers(z), K, &of_equation),
          "cusolverDnDgeqrf_bufferSize");
    check(cusolverDnDormqr_bufferSize(solver.handle, CUBLAS_SIDE_LEFT, CUBLAS_OP_T, K, 1, most, numbers(z), K,
                                      numbers(tau), numbers(z), K, &of_y),
          "cusolverDnDormqr_bufferSize");
    work_size = std::max({of_data, of_equation, of_y});
    work = std::make_unique<DeviceArray>(bytes_of<double>(work_size));
    std::vector<int> columns(static_cast<std::size_t>(most + 1) * of.model.equations.size());
    for (std::size_t i = 0; i < of.model.equations.size(); ++i) {
      int* const own = &columns[i * static_cast<std::size_t>(most + 1)];
      const Equation& e = of.model.equations[i];
      std::transform(e.regressors.begin(), e.regressors.end(), own, [](index_t c) { return static_cast<int>(c); });
      own[e.regressors.size()] = static_cast<int>(e.dependent);
    }
    copy(picks.data, columns.data(), columns.size() * sizeof(int));
  }

  void solve_equation(std::size_t i) const {
    const int r = static_cast<int>(model.model.equations[i].regressors.size());
    auto* const outcome = static_cast<int*>(info.data);
    double *const Z = numbers(z), *const y = Z + index_t{K} * r,
                  *const b = numbers(found) + static_cast<index_t>(i) * most;
    gather_columns(numbers(data), D, static_cast<const int*>(picks.data) + static_cast<index_t>(i) * (most + 1), r + 1,
                   K, Z);
    check(cusolverDnDgeqrf(solver.handle, K, r, Z, K, numbers(tau), numbers(*work), work_size, outcome),
          "cusolverDnDgeqrf");
    check(cusolverDnDormqr(solver.handle, CUBLAS_SIDE_LEFT, CUBLAS_OP_T, K, 1, r, Z, K, numbers(tau), y, K,
                           numbers(*work), work_size, outcome),
          "cusolverDnDormqr");
    check(cublasDtrsv(blas, CUBLAS_FILL_MODE_UPPER, CUBLAS_OP_N, CUBLAS_DIAG_NON_UNIT, r, Z, K, y, 1), "cublasDtrsv");
    check(cudaMemcpyAsync(b, y, bytes_of<double>(r), cudaMemcpyDeviceToDevice), "cudaMemcpyAsync");
  }

  const GeneratedModel& model;
  int D, n, K, most, work_size = 0;
  cusolver::Solver solver;
  Handle<cublasHandle_t, cublasDestroy> blas;
  DeviceArray data, z, tau, found, picks, info;
  std::unique_ptr<DeviceArray> work;
};

CusolverSem::CusolverSem(const GeneratedModel& model) : impl_(std::make_unique<Impl>(model)) {}

std::vector<std::vector<double>> CusolverSem::solve() const {
  const Impl& s = *impl_;
  const std::vector<Equation>& equations = s.model.model.equations;
  check(cudaSetDevice(0), "cudaSetDevice");
  copy(s.data.data, s.model.data.data(), bytes_of<double>(s.model.data.size()));
  check(cusolverDnDgeqrf(s.solver.handle, s.D, s.n, numbers(s.data), s.D, numbers(s.tau), numbers(*s.work), s.work_size,
                         static_cast<int*>(s.info.data)),
        "cusolverDnDgeqrf");
  for (std::size_t i = 0; i < equations.size(); ++i) s.solve_equation(i);
  std::vector<double> all(static_cast<std::size_t>(s.most) * equations.size());
  copy(all.data(), s.found.data, bytes_of<double>(std::ssize(all)));
  std::vector<std::vector<double>> coefficients;
  for (std::size_t i = 0; i < equations.size(); ++i) {
    const double* const own = &all[i * static_cast<std::size_t>(s.most)];
    coefficients.emplace_back(own, own + equations[i].regressors.size());
  }
  return coefficients;
}

#else

struct CusolverSem::Impl {};
CusolverSem::CusolverSem(const GeneratedModel&) {
  throw EnvironmentError("cuSOLVER: this build has no CUDA: build where nvcc is (cmake --preset cuda)");
}
std::vector<std::vector<double>> CusolverSem::solve() const { return {}; }

#endif

CusolverSem::~CusolverSem() = default;

}  // namespace tesela::bench
