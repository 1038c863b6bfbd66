#include "bench/eigen/eig_data.hpp"
#include "bench/peers/cusolver_eig.hpp"
#include <tesela/codelets/libraries/blas.hpp>
#include <tesela/codelets/libraries/lapack.hpp>
#include <tesela/codelets/support/lacpy.hpp>

#include <algorithm>
#include <thread>

namespace tesela::bench {

using namespace kernels;
namespace {

/// Our graph's matrix and its last result.
template <class T>
struct Tiles {
  std::optional<TileMatrix<T>> original, A;  // the first only on devices
  std::optional<SymmetricEig<T>> eig;

  /// A as generated: on the devices by a copy there, on the host registered anew, so that no device holds any of it.
  void restore(const EigData<T>& data) {
    const EigCase& w = data.what();
    Runtime& runtime = data.runtime();
    const TileShape tile{w.n, suitable_eig_tile(runtime, w.n, w.band)};
    eig.reset();
    if (!w.on_device) {
      A.reset();
      data.restore();
      A = TileMatrix<T>::map(runtime, data.a(), w.n, w.n, w.n, tile, "A");
      return;
    }
    if (!original) {
      original.emplace(runtime, w.n, w.n, tile, "A0");
      A.emplace(runtime, w.n, w.n, tile, "A");
      original->copy_from(data.original().data(), w.n);
    }
    Graph g(runtime);
    for (index_t j = 0; j < A->nt(); ++j)
      g.insert<Lacpy<T>>(on_gpu_number(static_cast<std::size_t>(j)), {}, (*original)(0, j), (*A)(0, j));
    g.wait();
  }
};

/// So many columns that stand in memory without gaps.
template <class T>
HostMatrix<T> columns_of(const EigData<T>& data, const T* from) {
  HostMatrix<T> x(data.what().n, data.what().wanted());
  std::copy_n(from, x.size(), x.data());
  return x;
}

template <class T>
std::vector<double> smallest_of(const EigData<T>& data, const std::vector<T>& values) {
  return {values.begin(), values.begin() + data.what().wanted()};
}

}  // namespace

template <class T>
Peer graph_eig(const EigData<T>& data, const std::string& name, EigMethod method) {
  const auto tiles = std::make_shared<Tiles<T>>();
  const auto run = [&data, tiles, method] {
    const EigCase& w = data.what();
    tiles->restore(data);
    settle();
    return seconds_of([&] {
      Graph g(data.runtime());
      SymmetricEigOptions options{.method = method, .vectors = w.vectors, .band = w.band, .block = w.block};
      if (w.part > 0) options.positions = IndexRange{0, w.part};
      tiles->eig = symmetric_eig(g, *tiles->A, options);
      g.wait();
      if (!w.on_device && w.vectors && tiles->eig->status.ok()) tiles->eig->vectors->copy_to(data.x(), w.n);
    });
  };
  return {name, run, [&data, tiles, run, name] {
            run();
            const SymmetricEig<T>& eig = *tiles->eig;
            HostMatrix<T> x;
            if (eig.vectors && eig.status.ok()) {
              x = HostMatrix<T>(eig.vectors->m(), eig.vectors->n());
              eig.vectors->copy_to(x.data(), x.ld());
            }
            return data.check(name, eig.values, x);
          }};
}

template <class T>
Peer lapack_eig(const EigData<T>& data) {
  const auto values = std::make_shared<std::vector<T>>(static_cast<std::size_t>(data.what().n));
  const auto run = [&data, values] {
    const PausedWorkers paused;
    const index_t n = data.what().n;
    data.restore();
    settle();
    const blas::Threads threads(blas::all_cores());
    return seconds_of([&] { lapack::syevd<T>(n, data.a(), n, values->data(), data.what().vectors); });
  };
  return {"lapack", run, [&data, values, run] {
            run();
            return data.check("lapack", smallest_of(data, *values), columns_of(data, data.a()));
          }};
}

template <class T>
Peer cusolver_eig(const EigData<T>& data, const std::string& name, bool part) {
  const EigCase& what = data.what();
  const auto solver = std::make_shared<CusolverEig<T>>(what.n, what.vectors, part ? what.part : 0);
  const auto values = std::make_shared<std::vector<T>>(static_cast<std::size_t>(what.n));
  const auto run = [&data, solver, values] {
    const EigCase& w = data.what();
    const PausedWorkers paused;
    if (w.on_device)
      solver->upload(data.original().data());
    else
      data.restore();
    settle();
    return seconds_of([&] {
      if (!w.on_device) solver->upload(data.a());
      solver->solve(values->data());
      if (!w.on_device && w.vectors) solver->download(data.x(), w.wanted());
    });
  };
  return {name, run, [&data, solver, values, run, name] {
            run();
            HostMatrix<T> x(data.what().n, data.what().wanted());
            if (data.what().vectors) solver->download(x.data(), x.cols());
            return data.check(name, smallest_of(data, *values), x);
          }};
}

template Peer graph_eig(const EigData<float>&, const std::string&, EigMethod);
template Peer graph_eig(const EigData<double>&, const std::string&, EigMethod);
template Peer lapack_eig(const EigData<float>&);
template Peer lapack_eig(const EigData<double>&);
template Peer cusolver_eig(const EigData<float>&, const std::string&, bool);
template Peer cusolver_eig(const EigData<double>&, const std::string&, bool);

}  // namespace tesela::bench
