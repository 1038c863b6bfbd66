#include "bench/eigen/eig_batch_data.hpp"
#include "bench/peers/cusolver_eig_batch.hpp"
#include <tesela/algorithms/eigen/eig_batch.hpp>
#include <tesela/codelets/libraries/blas.hpp>
#include <tesela/codelets/libraries/lapack.hpp>
#include <tesela/codelets/support/lacpy.hpp>

#include <algorithm>
#include <atomic>
#include <optional>
#include <thread>
#include <vector>

namespace tesela::bench {

using namespace kernels;
namespace {

/// Our graph's matrices.
template <class T>
struct Tiles {
  std::optional<TileMatrix<T>> original, A, W;  // the first only on devices
  bool ok = false;

  /// A as generated: on the devices by a copy there, on the host registered anew, so that no device holds any of it.
  void restore(const EigBatchData<T>& data) {
    const EigBatchCase& c = data.what();
    Runtime& runtime = data.runtime();
    const index_t n = c.n, kb = suitable_eig_batch<T>(runtime, n);
    if (!c.on_device) {
      A.reset();
      W.reset();
      data.restore();
      A = TileMatrix<T>::map(runtime, data.a(), n, n * c.count, n, {n, n * kb}, "A");
      W = TileMatrix<T>::map(runtime, data.w(), n, c.count, n, {n, kb}, "W");
      return;
    }
    if (!original) {
      original.emplace(runtime, n, n * c.count, TileShape{n, n * kb}, "A0");
      A.emplace(runtime, n, n * c.count, TileShape{n, n * kb}, "A");
      W.emplace(runtime, n, c.count, TileShape{n, kb}, "W");
      original->copy_from(data.original().data(), n);
    }
    Graph g(runtime);
    for (index_t t = 0; t < A->nt(); ++t)
      g.insert<Lacpy<T>>(on_gpu_number(static_cast<std::size_t>(t)), {}, (*original)(0, t), (*A)(0, t));
    g.wait();
  }
};

}  // namespace

template <class T>
Peer graph_eig_batch(const EigBatchData<T>& data) {
  const auto tiles = std::make_shared<Tiles<T>>();
  const auto run = [&data, tiles] {
    tiles->restore(data);
    settle();
    return seconds_of([&] {
      Graph g(data.runtime());
      tiles->ok = eig_batch(g, *tiles->A, *tiles->W, {data.what().vectors}).ok();
      if (data.what().on_device) return;
      if (data.what().vectors) tiles->A->bring_home();
      tiles->W->bring_home();
    });
  };
  return {"tesela", run, [&data, tiles, run] {
            run();
            if (!tiles->ok) throw WrongResult("tesela: a matrix has no eigenvalues");
            const EigBatchCase& c = data.what();
            HostMatrix<T> values(c.n, c.count), x(c.n, c.n * c.count);
            tiles->W->copy_to(values.data(), c.n);
            tiles->A->copy_to(x.data(), c.n);
            return data.check("tesela", values, x);
          }};
}

template <class T>
Peer lapack_eig_batch(const EigBatchData<T>& data) {
  const auto run = [&data] {
    const EigBatchCase& c = data.what();
    const PausedWorkers paused;
    const blas::Threads alone(1);
    data.restore();
    settle();
    return seconds_of([&] {
      constexpr index_t share = 16;
      std::atomic<index_t> next = 0;
      std::vector<std::jthread> team;
      for (unsigned t = 0; t < std::max(1u, std::thread::hardware_concurrency()); ++t)
        team.emplace_back([&] {
          for (index_t first = next.fetch_add(share); first < c.count; first = next.fetch_add(share))
            for (index_t k = first; k < std::min(first + share, c.count); ++k)
              lapack::syevd<T>(c.n, data.a() + k * c.n * c.n, c.n, data.w() + k * c.n, c.vectors);
        });
    });
  };
  return {"lapack", run, [&data, run] {
            run();
            return data.check("lapack");
          }};
}

template <class T>
Peer cusolver_eig_batch(const EigBatchData<T>& data) {
  const EigBatchCase& what = data.what();
  const auto solver = std::make_shared<CusolverEigBatch<T>>(what.n, what.count, what.vectors);
  const auto run = [&data, solver] {
    const EigBatchCase& c = data.what();
    const PausedWorkers paused;
    if (c.on_device)
      solver->upload(data.original().data());
    else
      data.restore();
    settle();
    return seconds_of([&] {
      if (!c.on_device) solver->upload(data.a());
      solver->solve();
      if (c.on_device) return;
      solver->values(data.w());
      if (c.vectors) solver->vectors(data.a());
    });
  };
  return {"cusolver", run, [&data, solver, run] {
            run();
            const EigBatchCase& c = data.what();
            HostMatrix<T> values(c.n, c.count), x(c.n, c.n * c.count);
            solver->values(values.data());
            solver->vectors(x.data());
            return data.check("cusolver", values, x);
          }};
}

template Peer graph_eig_batch(const EigBatchData<float>&);
template Peer graph_eig_batch(const EigBatchData<double>&);
template Peer lapack_eig_batch(const EigBatchData<float>&);
template Peer lapack_eig_batch(const EigBatchData<double>&);
template Peer cusolver_eig_batch(const EigBatchData<float>&);
template Peer cusolver_eig_batch(const EigBatchData<double>&);

}  // namespace tesela::bench
