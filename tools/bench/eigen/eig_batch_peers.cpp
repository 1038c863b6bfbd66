#include "tools/peers/cusolver_eig_batch.hpp"
#include "tools/peers/restored.hpp"
#include "tools/problems/eigen/eig_batch_data.hpp"
#include <tesela/algorithms/eigen/eig_batch.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/host/lapack.hpp>
#include <tesela/tiles/parallel_for.hpp>

#include <algorithm>

namespace tesela::bench {

namespace {

/// Our graph's matrices.
template <class T>
struct Tiles {
  RestoredMatrix<T> A, W;
  bool ok = false;

  void restore(const EigBatchData<T>& data) {
    const EigBatchCase& c = data.what();
    Runtime& runtime = data.runtime();
    const index_t n = c.n, kb = suitable_eig_batch<T>(runtime, n);
    const Shape of_a{n, n * c.count}, of_w{n, c.count};
    if (!c.on_device) {
      A.release();
      W.release();
      data.restore();
      A.on_host(runtime, data.a(), of_a, {n, n * kb});
      W.on_host(runtime, data.w(), of_w, {n, kb});
      return;
    }
    A.on_devices(
        runtime, of_a, {n, n * kb},
        [&](Graph&, const TileMatrix<T>& original) { original.copy_from(data.original().data(), n); },
        [](index_t t) { return on_gpu_number(static_cast<std::size_t>(t)); });
    W.empty(runtime, of_w, {n, kb});
  }
};

}  // namespace

template <class T>
Peer graph_eig_batch(const EigBatchData<T>& data) {
  const auto tiles = std::make_shared<Tiles<T>>();
  const auto run = [&data, tiles] {
    tiles->restore(data);
    wait_for_idle_threads();
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
    wait_for_idle_threads();
    return seconds_of([&] {
      parallel_for(c.count, 16, [&](index_t first, index_t end) {
        for (index_t k = first; k < end; ++k)
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
    wait_for_idle_threads();
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
