#include "tools/peers/cusolver_qr.hpp"
#include "tools/peers/restored.hpp"
#include "tools/problems/qr/qr_data.hpp"
#include <tesela/algorithms/dense/matrices.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/host/lapack.hpp>

#include <algorithm>
#include <cstring>

#if TESELA_HAVE_CUDA
#include "tools/peers/generate.hpp"
#endif

namespace tesela::bench {

using namespace kernels;
namespace {

/// Our graph's matrix and its last factorization.
template <class T>
struct Tiles {
  RestoredMatrix<T> A;
  std::optional<QrFactorization<T>> factors;

  void restore(const QrData<T>& data) {
    const QrCase& w = data.what();
    factors.reset();
    if (w.on_device) {
      A.on_devices(
          data.runtime(), {w.m, w.n}, w.tile,
          [&](Graph& g, const TileMatrix<T>& original) { fill(g, original, data.generator()); },
          [](index_t) { return Priority{}; });
      return;
    }
    A.release();
    data.restore();
    A.on_host(data.runtime(), data.a(), {w.m, w.n}, w.tile);
  }
};

/// R's columns from `first` on: no more tiles come to the host than hold them.
template <class T>
void copy_r(const TileMatrix<T>& A, index_t first, HostMatrix<T>& to) {
  A.for_each_tile([&](Tile<T> tile, index_t row, index_t col) {
    const index_t begin = std::max(col, first), end = std::min(col + tile.cols(), first + to.cols());
    if (begin >= end || row >= end) return;
    const auto block = tile.read();
    for (index_t j = begin; j < end; ++j)
      std::copy_n(block.data + (j - col) * block.ld, std::clamp<index_t>(j + 1 - row, 0, block.rows),
                  to.data() + row + (j - first) * to.ld());
  });
}

/// A host matrix that StarPU's workers leave the cores for.
template <class T, class F>
double timed_on_host(const QrData<T>& data, F&& f) {
  const PausedWorkers paused;
  if (!data.what().on_device) data.restore();
  wait_for_idle_threads();
  return seconds_of(f);
}

}  // namespace

template <class T>
Peer tesela_qr(const QrData<T>& data) {
  const auto tiles = std::make_shared<Tiles<T>>();
  const auto run = [&data, tiles] {
    tiles->restore(data);
    wait_for_idle_threads();
    return seconds_of([&] {
      Graph g(data.runtime());
      const TileMatrix<T>& A = *tiles->A;
      tiles->factors.emplace(qr(g, A, data.what().options));
      if (A.mapped()) A.for_each_tile([&](const Tile<T>& tile, index_t, index_t) { g.bring_home(tile); });
      g.wait();
      if (A.mapped()) A.bring_home();
    });
  };
  return {"tesela", run, [&data, tiles, run] {
            run();
            const auto multiply_q = [&](HostMatrix<T>& c) {
              const auto C =
                  TileMatrix<T>::map(data.runtime(), c.data(), c.rows(), c.cols(), c.ld(), data.what().tile, "C");
              Graph g(data.runtime());
              tiles->factors->apply(g, Side::left, Op::none, C);
              g.wait();
              C.bring_home();
            };
            return data.check("tesela",
                              {[&](index_t first, HostMatrix<T>& to) { copy_r(*tiles->A, first, to); }, multiply_q});
          }};
}

template <class T>
Peer lapack_qr(const QrData<T>& data) {
  const auto [m, n] = std::pair{data.what().m, data.what().n};
  const auto tau = std::make_shared<std::vector<T>>(static_cast<std::size_t>(std::min(m, n)));
  const auto run = [&data, tau, m = m, n = n] {
    const blas::Threads threads(blas::all_cores());
    return timed_on_host(data, [&] { lapack::geqrf(m, n, data.a(), std::max<index_t>(m, 1), tau->data()); });
  };
  return {"lapack", run, [&data, tau, run] {
            run();
            const index_t ld = std::max<index_t>(data.what().m, 1);
            const auto read = [&](index_t first, HostMatrix<T>& to) {
              std::copy_n(data.a() + first * ld, to.size(), to.data());
            };
            return data.check("lapack", {read, [&](HostMatrix<T>& c) {
                                           lapack::ormqr(Op::none, c.rows(), c.cols(),
                                                         static_cast<index_t>(tau->size()), data.a(), ld, tau->data(),
                                                         c.data(), c.ld());
                                         }});
          }};
}

template <class T>
Peer cusolver_qr(const QrData<T>& data) {
  const QrCase& w = data.what();
  const auto solver = std::make_shared<CusolverQr<T>>(w.m, w.n);
  const auto run = [&data, solver] {
    const QrCase& what = data.what();
#if TESELA_HAVE_CUDA
    if (what.on_device) generate(solver->a(), what.m, what.n, data.generator());
#endif
    return timed_on_host(data, [&] {
      if (!what.on_device) solver->upload(data.a());
      solver->factor();
      if (!what.on_device) solver->download(data.a());
    });
  };
  return {"cusolver", run, [&data, solver, run] {
            run();
            return data.check("cusolver",
                              {[&](index_t first, HostMatrix<T>& to) { solver->download(to.data(), first, to.cols()); },
                               [&](HostMatrix<T>& c) { solver->multiply(Op::none, c.data(), c.cols()); }});
          }};
}

template Peer tesela_qr(const QrData<float>&);
template Peer tesela_qr(const QrData<double>&);
template Peer lapack_qr(const QrData<float>&);
template Peer lapack_qr(const QrData<double>&);
template Peer cusolver_qr(const QrData<float>&);
template Peer cusolver_qr(const QrData<double>&);

}  // namespace tesela::bench
