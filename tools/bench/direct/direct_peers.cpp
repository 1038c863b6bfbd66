#include "tools/peers/cusolver_factor.hpp"
#include "tools/peers/restored.hpp"
#include "tools/problems/dense/direct_data.hpp"
#include <tesela/algorithms/dense/cholesky.hpp>
#include <tesela/algorithms/dense/lu.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/host/lapack.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <optional>

namespace tesela::bench {
namespace {

/// Our graph's matrix and its last factorization.
template <class T>
struct Tiles {
  RestoredMatrix<T> A;
  std::optional<LuFactorization<T>> lu;
  std::optional<CholeskyFactorization<T>> cholesky;

  void restore(const DirectData<T>& data) {
    const DirectCase& w = data.what();
    lu.reset();
    cholesky.reset();
    if (w.on_device) {
      const bool rows = w.kind == DirectKind::cholesky;  // which of A's tiles stay on one GPU
      A.on_devices(
          data.runtime(), {w.n, w.n}, w.tile,
          [&](Graph&, const TileMatrix<T>& original) {
            original.copy_from(data.original().data(), data.original().ld());
          },
          [&](index_t j) { return rows ? on_gpu : on_gpu_number(static_cast<std::size_t>(j)); });
      return;
    }
    A.release();
    data.restore();
    A.on_host(data.runtime(), data.a(), {w.n, w.n}, w.tile);
  }

  void factor(Graph& g, const DirectData<T>& data) {
    if (data.what().kind == DirectKind::cholesky)
      cholesky.emplace(tesela::cholesky(g, *A));
    else
      lu.emplace(tesela::lu(g, *A, data.what().kind == DirectKind::lu ? Pivoting::tournament : Pivoting::none));
  }
};

template <class T>
HostMatrix<T> on_host(const DirectData<T>& data) {
  HostMatrix<T> factors(data.what().n, data.what().n);
  std::copy_n(data.a(), factors.size(), factors.data());
  return factors;
}

}  // namespace

template <class T>
Peer tesela_direct(const DirectData<T>& data) {
  const auto tiles = std::make_shared<Tiles<T>>();
  const auto run = [&data, tiles] {
    tiles->restore(data);
    wait_for_idle_threads();
    return seconds_of([&] {
      Graph g(data.runtime());
      tiles->factor(g, data);
      const TileMatrix<T>& A = *tiles->A;
      if (A.mapped()) A.for_each_tile([&](const Tile<T>& tile, index_t, index_t) { g.bring_home(tile); });
      g.wait();
      if (A.mapped()) A.bring_home();
    });
  };
  return checked("tesela", run, [&data, tiles] {
    HostMatrix<T> factors(data.what().n, data.what().n);
    tiles->A->copy_to(factors.data(), factors.ld());
    return data.check("tesela", factors, tiles->lu ? tiles->lu->rows() : std::vector<index_t>());
  });
}

template <class T>
Peer lapack_direct(const DirectData<T>& data) {
  const index_t n = data.what().n;
  const auto swaps = std::make_shared<std::vector<int>>();
  const auto run = [&data, swaps, n] {
    const PausedWorkers paused;
    const blas::Threads threads(blas::all_cores());
    data.restore();
    swaps->assign(data.what().kind == DirectKind::cholesky ? 0 : static_cast<std::size_t>(n), 0);
    wait_for_idle_threads();
    return seconds_of([&] {
      if (data.what().kind == DirectKind::cholesky)
        lapack::potrf(n, data.a(), std::max<index_t>(n, 1));
      else
        lapack::getrf(n, n, data.a(), std::max<index_t>(n, 1), swaps->data());
    });
  };
  return checked("lapack", run, [&data, swaps, n] { return data.check("lapack", on_host(data), rows_of(n, *swaps)); });
}

template <class T>
Peer cusolver_direct(const DirectData<T>& data) {
  using Solver = CusolverFactor<T>;
  const DirectCase& w = data.what();
  const auto by = w.kind == DirectKind::cholesky ? Solver::By::cholesky
                  : w.kind == DirectKind::lu     ? Solver::By::lu
                                                 : Solver::By::lu_without_pivots;
  const auto solver = std::make_shared<Solver>(w.n, by, w.on_device);
  if (w.on_device) solver->keep(data.original().data());
  const auto run = [&data, solver] {
    const PausedWorkers paused;
    const bool on_device = data.what().on_device;
    on_device ? solver->put_back() : data.restore();
    wait_for_idle_threads();
    return seconds_of([&] {
      if (!on_device) solver->upload(data.a());
      solver->factor();
      if (!on_device) solver->download(data.a());
    });
  };
  return checked("cusolver", run, [&data, solver] {
    HostMatrix<T> factors(data.what().n, data.what().n);
    solver->download(factors.data());
    return data.check("cusolver", factors, rows_of(data.what().n, solver->swaps()));
  });
}

#define TESELA_INSTANTIATE(T)                        \
  template Peer tesela_direct(const DirectData<T>&); \
  template Peer lapack_direct(const DirectData<T>&); \
  template Peer cusolver_direct(const DirectData<T>&);
TESELA_INSTANTIATE(float)
TESELA_INSTANTIATE(double)
#undef TESELA_INSTANTIATE

}  // namespace tesela::bench
