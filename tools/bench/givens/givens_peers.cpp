#include "tools/peers/device.hpp"
#include "tools/peers/handle.hpp"
#include "tools/problems/givens/givens_data.hpp"
#include <tesela/codelets/support/lacpy.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/runtime/in_precision.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <cblas.h>

#include <algorithm>
#include <dlfcn.h>
#include <limits>

#if TESELA_HAVE_CUDA
#include <cuda_runtime.h>

#include <cusolverDn.h>
#endif

extern "C" {
void sgeqrf_(const int*, const int*, float*, const int*, float*, float*, const int*, int*);
void dgeqrf_(const int*, const int*, double*, const int*, double*, double*, const int*, int*);
void sorgqr_(const int*, const int*, const int*, float*, const int*, const float*, float*, const int*, int*);
void dorgqr_(const int*, const int*, const int*, double*, const int*, const double*, double*, const int*, int*);
}

namespace tesela::bench {

using namespace kernels;
namespace {

template <class T>
void copy(Graph& g, const TileMatrix<T>& from, const TileMatrix<T>& to) {
  to.for_each_tile([&](const Tile<T>& tile, index_t row, index_t column) {
    g.insert<Lacpy<T>>({}, from(row / to.tile_shape().mb, column / to.tile_shape().nb), tile);
  });
}

/// A matrix in host memory.
template <class T>
TileMatrix<T> on_host(const GivensData<T>& data, T* memory, index_t cols, TileShape tile) {
  return TileMatrix<T>::map(data.runtime(), memory, data.what().m, cols, std::max<index_t>(data.what().m, 1), tile);
}

template <class T>
void identity(Graph& g, const TileMatrix<T>& Q) {
  Q.for_each_tile([&](const Tile<T>& q, index_t row, index_t column) { g.insert<Laset<T>>({T(1), row - column}, q); });
}

template <class T, class Run>
Peer verified(const GivensData<T>& data, const std::string& name, Run run) {
  const auto seconds = std::make_shared<double>(0);
  return {name, run, [&data, name, run, seconds] { return data.verify(name, [&] { *seconds = run(); }); }, seconds};
}

double timed_graph(Runtime& runtime, const std::function<void(Graph&)>& insert) {
  return seconds_of([&] {
    Graph g(runtime);
    insert(g);
    g.wait();
  });
}

/// Computes Q from R and the rotations below it, blocks of columns at a time: zeros of the identity stay untouched.
template <class T>
void form_q(const GivensData<T>& data, const Out<index_t>& counts) {
  constexpr index_t columns = 64, window = 32;
  const index_t m = data.what().m;
  std::vector<T> memory(static_cast<std::size_t>(givens_work_size(columns, window)));
  Scratch<T> work;
  work.data = memory.data();
  for (index_t first = 0; first < m; first += columns) {
    const InOut<T> q{{data.q() + first * m, m, std::min(columns, m - first), m}};
    for (index_t j = 0; j < q.cols; ++j)
      for (index_t i = 0; i < m; ++i) q(i, j) = T(i == first + j ? 1 : 0);
    typename GivensApply<T>::Args args{Side::left, Op::none};
    args.width = std::min({first + q.cols, data.what().n, m - 1});
    args.window = window;
    args.rows = m;
    GivensApply<T>::cpu(args, {{data.r(), m, data.what().n, m}}, {{counts.data, counts.rows, counts.cols, counts.ld}},
                        q, work);
  }
}

/// Returns the seconds of geqrf and, where Q is wanted, orgqr.
template <class T, class Geqrf, class Orgqr>
double run_lapack(const GivensData<T>& data, Geqrf geqrf, Orgqr orgqr) {
  const GivensCase& w = data.what();
  data.copy_a_to_r();
  const auto m = static_cast<int>(w.m), n = static_cast<int>(w.n), size = 64 * std::max(m, n);
  std::vector<T> tau(static_cast<std::size_t>(std::min(m, n))), work(static_cast<std::size_t>(size));
  int info = 0;
  wait_for_idle_threads();
  return seconds_of([&] {
    geqrf(&m, &n, data.r(), &m, tau.data(), work.data(), &size, &info);
    if (!w.with_q) return;
    std::copy_n(data.r(), w.m * w.n, data.q());
    orgqr(&m, &m, &n, data.q(), &m, tau.data(), work.data(), &size, &info);
  });
}

/// Returns a function of MKL, which is loaded once, apart from OpenBLAS with the same names.
template <class Function>
Function mkl_function(const std::string& file, const std::string& name) {
  static void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
  if (library == nullptr) throw EnvironmentError(file + " cannot be loaded: " + dlerror());
  void* const address = dlsym(library, name.c_str());
  if (address == nullptr) throw EnvironmentError(file + " has no function " + name);
  return reinterpret_cast<Function>(address);
}

}  // namespace

template <class T>
Peer tesela_givens(const GivensData<T>& data, const std::string& name, const GivensOptions& options,
                   const std::shared_ptr<Transfers>& transfers) {
  const auto run = [&data, options, transfers] {
    const GivensCase& w = data.what();
    const TileShape columns{w.m, w.nb}, rows{w.mb, w.m};
    Runtime& runtime = data.runtime();
    const TileMatrix<T> W(runtime, w.m, w.n, columns, "W"), Q(runtime, w.with_q ? w.m : 0, w.m, rows, "Q");
    const auto A = on_host(data, const_cast<T*>(data.a()), w.n, columns), R = on_host(data, data.r(), w.n, columns);
    const auto home = on_host(data, data.q(), w.with_q ? w.m : 0, rows);
    transfers->in.push_back(timed_graph(runtime, [&](Graph& g) { copy(g, A, W); }));
    const double seconds = timed_graph(runtime, [&](Graph& g) {
      identity(g, Q);
      givens_qr(g, W, options, nullptr, w.with_q ? &Q : nullptr);
    });
    transfers->out.push_back(timed_graph(runtime, [&](Graph& g) {
      copy(g, W, R);
      if (w.with_q) copy(g, Q, home);
      R.bring_home();
      home.bring_home();
    }));
    return seconds;
  };
  return verified(data, name, run);
}

template <class T>
Peer tesela_givens_band(const GivensData<T>& data, const std::string& name,
                        const std::shared_ptr<Transfers>& transfers) {
  const auto run = [&data, transfers] {
    const GivensCase& w = data.what();
    Runtime& runtime = data.runtime();
    const index_t k = w.half_width, rows = 3 * k + 1;
    HostMatrix<T> band = HostMatrix<T>::zeros(rows, w.n);
    for (index_t j = 0; j < w.n; ++j)
      for (index_t i = std::max<index_t>(0, j - k); i <= std::min(w.m - 1, j + k); ++i)
        band(2 * k + i - j, j) = data.a()[i + j * w.m];
    const TileShape columns{w.m, w.nb};
    double seconds = 0;
    {
      const TileMatrix<T> W(runtime, rows, w.n, {rows, w.n}, "W"), Q(runtime, w.m, w.m, columns, "Q");
      const auto A = TileMatrix<T>::map(runtime, band.data(), rows, w.n, rows, {rows, w.n});
      const auto home = on_host(data, data.q(), w.m, columns);
      transfers->in.push_back(timed_graph(runtime, [&](Graph& g) { copy(g, A, W); }));
      seconds = timed_graph(runtime, [&](Graph& g) {
        const auto qr = givens_band_qr(g, W, w.m, k, k, {GivensMethod::chain});
        qr.form_q(g, Q);
        g.wait();
      });
      transfers->out.push_back(timed_graph(runtime, [&](Graph& g) {
        copy(g, W, A);
        copy(g, Q, home);
        A.bring_home();
        home.bring_home();
      }));
    }
    std::fill_n(data.r(), w.m * w.n, T(0));
    for (index_t j = 0; j < w.n; ++j)
      for (index_t i = std::max<index_t>(0, j - 2 * k); i <= j; ++i) data.r()[i + j * w.m] = band(2 * k + i - j, j);
    return seconds;
  };
  return verified(data, name, run);
}

template <class T>
Peer sequential_givens(const GivensData<T>& data) {
  const auto run = [&data] {
    const GivensCase& w = data.what();
    const PausedWorkers paused;
    data.copy_a_to_r();
    std::vector<T> work(static_cast<std::size_t>(2 * w.m));
    index_t counts[2] = {};
    Out<index_t> info;
    info.data = counts;
    info.rows = info.ld = 2;
    info.cols = 1;
    Scratch<T> scratch;
    scratch.data = work.data();
    InOut<T> a;
    a.data = data.r();
    a.rows = a.ld = w.m;
    a.cols = w.n;
    wait_for_idle_threads();
    return seconds_of([&] {
      GivensSweep<T>::cpu({w.n}, info, scratch, {&a, 1});
      if (w.with_q) form_q<T>(data, info);
    });
  };
  return verified(data, "givens, one core", run);
}

Peer with_transfers(const Peer& peer, const std::shared_ptr<Transfers>& transfers) {
  Peer all = peer;
  all.run = [run = peer.run, transfers] {
    const double seconds = run();
    return seconds + transfers->in.back() + transfers->out.back();
  };
  all.verify = [verify = peer.verify, seconds = peer.verified_seconds, transfers] {
    const double error = verify();
    *seconds += transfers->in.back() + transfers->out.back();
    return error;
  };
  return all;
}

template <class T>
Peer lapack_givens(const GivensData<T>& data, const std::string& name, int threads) {
  const auto run = [&data, threads] {
    const PausedWorkers paused;
    const blas::Threads scope(threads > 0 ? threads : openblas_get_num_procs());
    return run_lapack(data, in_precision<T, sgeqrf_, dgeqrf_>, in_precision<T, sorgqr_, dorgqr_>);
  };
  return verified(data, name, run);
}

template <class T>
Peer mkl_givens(const GivensData<T>& data, const std::string& name, int threads, const std::string& file) {
  using Geqrf = decltype(in_precision<T, &sgeqrf_, &dgeqrf_>);
  using Orgqr = decltype(in_precision<T, &sorgqr_, &dorgqr_>);
  const auto geqrf = mkl_function<Geqrf>(file, in_precision<T, 's', 'd'> + std::string("geqrf_"));
  const auto orgqr = mkl_function<Orgqr>(file, in_precision<T, 's', 'd'> + std::string("orgqr_"));
  const auto set_threads = mkl_function<void (*)(int)>(file, "MKL_Set_Num_Threads");
  const auto run = [&data, threads, geqrf, orgqr, set_threads] {
    const PausedWorkers paused;
    set_threads(threads);
    return run_lapack(data, geqrf, orgqr);
  };
  return verified(data, name, run);
}

#if TESELA_HAVE_CUDA

namespace {

/// geqrf and orgqr in the precision of T.
template <class T>
struct Cusolver {
  static constexpr auto geqrf_size = in_precision<T, cusolverDnSgeqrf_bufferSize, cusolverDnDgeqrf_bufferSize>;
  static constexpr auto geqrf = in_precision<T, cusolverDnSgeqrf, cusolverDnDgeqrf>;
  static constexpr auto orgqr_size = in_precision<T, cusolverDnSorgqr_bufferSize, cusolverDnDorgqr_bufferSize>;
  static constexpr auto orgqr = in_precision<T, cusolverDnSorgqr, cusolverDnDorgqr>;
};

}  // namespace

template <class T>
Peer cusolver_givens(const GivensData<T>& data) {
  const auto run = [&data] {
    using Solver = Cusolver<T>;
    const GivensCase& w = data.what();
    const PausedWorkers paused;
    select_first_device();
    Handle<cusolverDnHandle_t, cusolverDnDestroy> handle;
    check_device(cusolverDnCreate(handle.out()), "cusolverDnCreate");
    const auto m = static_cast<int>(w.m), n = static_cast<int>(w.n), k = std::min(m, n);
    const std::size_t bytes = static_cast<std::size_t>(w.m * w.n) * sizeof(T);
    const DeviceMemory a(bytes), q(w.with_q ? bytes : 0), tau(static_cast<std::size_t>(k) * sizeof(T)),
        info(sizeof(int));
    int size = 0, other = 0;
    check_device(Solver::geqrf_size(handle, m, n, a.template as<T>(), m, &size), "cusolver geqrf's work space");
    if (w.with_q)
      check_device(Solver::orgqr_size(handle, m, m, n, q.template as<T>(), m, tau.template as<T>(), &other),
                   "cusolver orgqr's work space");
    size = std::max(size, other);
    const DeviceMemory work(static_cast<std::size_t>(size) * sizeof(T));
    check_device(cudaMemcpy(a.template as<T>(), data.a(), bytes, cudaMemcpyHostToDevice), "cudaMemcpy");
    wait_for_idle_threads();
    const double seconds = seconds_of([&] {
      check_device(Solver::geqrf(handle, m, n, a.template as<T>(), m, tau.template as<T>(), work.template as<T>(), size,
                                 info.template as<int>()),
                   "cusolver geqrf");
      if (w.with_q) {
        check_device(cudaMemcpyAsync(q.template as<T>(), a.template as<T>(), bytes, cudaMemcpyDeviceToDevice, nullptr),
                     "cudaMemcpyAsync");
        check_device(Solver::orgqr(handle, m, m, n, q.template as<T>(), m, tau.template as<T>(), work.template as<T>(),
                                   size, info.template as<int>()),
                     "cusolver orgqr");
      }
      check_device(cudaDeviceSynchronize(), "cudaDeviceSynchronize after cusolver");
    });
    check_device(cudaMemcpy(data.r(), a.template as<T>(), bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
    if (w.with_q) check_device(cudaMemcpy(data.q(), q.template as<T>(), bytes, cudaMemcpyDeviceToHost), "cudaMemcpy");
    return seconds;
  };
  return verified(data, "cusolver", run);
}

template Peer cusolver_givens(const GivensData<float>&);
template Peer cusolver_givens(const GivensData<double>&);

#endif

#define TESELA_PEERS(T)                                                                                          \
  template Peer tesela_givens(const GivensData<T>&, const std::string&, const GivensOptions&,                    \
                              const std::shared_ptr<Transfers>&);                                                \
  template Peer tesela_givens_band(const GivensData<T>&, const std::string&, const std::shared_ptr<Transfers>&); \
  template Peer sequential_givens(const GivensData<T>&);                                                         \
  template Peer lapack_givens(const GivensData<T>&, const std::string&, int);                                    \
  template Peer mkl_givens(const GivensData<T>&, const std::string&, int, const std::string&);
TESELA_PEERS(float)
TESELA_PEERS(double)
#undef TESELA_PEERS

}  // namespace tesela::bench
