#include "tools/bench/least_squares/ols_tiles.hpp"
#include "tools/peers/cusolver_qr.hpp"
#include <tesela/host/blas.hpp>
#include <tesela/host/lapack.hpp>

#include <algorithm>
#include <vector>

#if TESELA_HAVE_CUDA
#include "tools/peers/device.hpp"
#include "tools/peers/generate.hpp"

#include <cuda_runtime.h>
#endif

namespace tesela::bench {

using namespace kernels;
namespace {

/// From host or device memory.
template <class T>
void copy_block(const T* from, HostMatrix<T>& to) {
#if TESELA_HAVE_CUDA
  const std::size_t bytes = static_cast<std::size_t>(to.size()) * sizeof(T);
  check_device(cudaMemcpy(to.data(), from, bytes, cudaMemcpyDefault), "cudaMemcpy");
#else
  std::copy_n(from, to.size(), to.data());
#endif
}

}  // namespace

template <class T>
Peer tesela_ols(const OlsData<T>& data, const std::string& name) {
  const auto tiles = std::make_shared<OlsTiles<T>>();
  const auto answer = std::make_shared<LeastSquares<T>>();
  const auto run = [&data, tiles, answer] {
    tiles->restore(data);
    wait_for_idle_threads();
    return seconds_of([&] {
      Graph g(data.runtime());
      *answer = ols(g, *tiles->A, *tiles->B, data.what().options);
    });
  };
  return checked(name, run, [&data, answer, name] {
    if (answer->status != SolveStatus::ok) throw WrongResult("bench ols: " + name + ": not of full rank");
    return data.check(name, answer->X.data(), answer->X.ld());
  });
}

template <class T>
Peer lapack_ols(const OlsData<T>& data) {
  const auto run = [&data] {
    const OlsCase& w = data.what();
    const blas::Threads threads(blas::all_cores());
    const PausedWorkers paused;
    data.restore();
    wait_for_idle_threads();
    return seconds_of([&] { lapack::gels(w.m, w.n, w.rhs, data.a(), w.m, data.b(), w.m); });
  };
  return {"lapack", run, [&data, run] {
            run();
            return data.check("lapack", data.b(), data.what().m);
          }};
}

template <class T>
Peer cusolver_ols(const OlsData<T>& data) {
  const OlsCase& w = data.what();
  const auto solver = std::make_shared<CusolverQr<T>>(w.m, w.n);
  const auto b = std::make_shared<HostMatrix<T>>(w.m, w.rhs);  // holds X in the end
#if TESELA_HAVE_CUDA
  const auto device_b = std::make_shared<DeviceMemory>(static_cast<std::size_t>(b->size()) * sizeof(T));
#else
  const auto device_b = std::make_shared<int>(0);
#endif
  const auto run = [&data, solver, b, device_b] {
    const OlsCase& what = data.what();
    const PausedWorkers paused;
    T* rhs = nullptr;
    if (!what.on_device) {
      data.restore();
      rhs = data.b();
    }
#if TESELA_HAVE_CUDA
    if (what.on_device) {
      rhs = device_b->template as<T>();
      generate(solver->a(), what.m, what.n, data.a_generator());
      generate(rhs, what.m, what.rhs, data.b_generator());
    }
#endif
    wait_for_idle_threads();
    const double seconds = seconds_of([&] {
      if (!what.on_device) solver->upload(data.a());
      solver->factor();
      solver->solve(rhs, what.rhs);
    });
    copy_block(rhs, *b);
    return seconds;
  };
  return {"cusolver", run, [&data, b, run] {
            run();
            return data.check("cusolver", b->data(), b->ld());
          }};
}

template Peer tesela_ols(const OlsData<float>&, const std::string&);
template Peer tesela_ols(const OlsData<double>&, const std::string&);
template Peer lapack_ols(const OlsData<float>&);
template Peer lapack_ols(const OlsData<double>&);
template Peer cusolver_ols(const OlsData<float>&);
template Peer cusolver_ols(const OlsData<double>&);

}  // namespace tesela::bench
