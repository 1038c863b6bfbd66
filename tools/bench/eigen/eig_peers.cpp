#include "tools/bench/eigen/eig_tiles.hpp"
#include "tools/peers/cusolver_eig.hpp"
#include <tesela/host/blas.hpp>
#include <tesela/host/lapack.hpp>

#include <algorithm>
#include <numeric>

#if TESELA_HAVE_CUDA
#include "tools/peers/generate.hpp"
#endif

namespace tesela::bench {

namespace {

/// Adjacent columns in memory.
template <class T>
HostMatrix<T> leading_columns(const EigData<T>& data, const T* from) {
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
  struct Mine {
    EigTiles<T> tiles;
    std::optional<SymmetricEig<T>> eig;
  };
  const auto mine = std::make_shared<Mine>();
  const auto run = [&data, mine, method] {
    const EigCase& w = data.what();
    mine->eig.reset();  // before A takes room
    const TileMatrix<T>& A = mine->tiles.restore(data);
    wait_for_idle_threads();
    return seconds_of([&] {
      Graph g(data.runtime());
      SymmetricEigOptions options{.method = method, .vectors = w.vectors, .band = w.band, .block = w.block};
      if (w.part > 0) options.positions = IndexRange{0, w.part};
      mine->eig = symmetric_eig(g, A, options);
      g.wait();
      if (!w.on_device && w.vectors && mine->eig->status.ok()) mine->eig->vectors->copy_to(data.x(), w.n);
    });
  };
  return checked(name, run, [&data, mine, name] {
    const SymmetricEig<T>& eig = *mine->eig;
    if (!eig.status.ok()) throw WrongResult(name + ": " + to_string(eig.status));
    return eig.vectors ? data.check(name, eig.values, *eig.vectors) : data.check(name, eig.values, HostMatrix<T>());
  });
}

template <class T>
Peer lapack_eig(const EigData<T>& data) {
  const auto values = std::make_shared<std::vector<T>>(static_cast<std::size_t>(data.what().n));
  const auto run = [&data, values] {
    const PausedWorkers paused;
    const index_t n = data.what().n;
    data.restore();
    wait_for_idle_threads();
    const blas::Threads threads(blas::all_cores());
    return seconds_of([&] { lapack::syevd<T>(n, data.a(), n, values->data(), data.what().vectors); });
  };
  return checked("lapack", run, [&data, values] {
    return data.check("lapack", smallest_of(data, *values), leading_columns(data, data.a()));
  });
}

template <class T>
Peer cusolver_eig(const EigData<T>& data, const std::string& name, bool part) {
  const EigCase& what = data.what();
  const auto solver = std::make_shared<CusolverEig<T>>(what.n, what.vectors, part ? what.part : 0);
  const auto values = std::make_shared<std::vector<T>>(static_cast<std::size_t>(what.n));
  const auto run = [&data, solver, values] {
    const EigCase& w = data.what();
    const PausedWorkers paused;
    if (!w.on_device) data.restore();
#if TESELA_HAVE_CUDA
    if (data.generator()) generate(solver->a(), w.n, w.n, *data.generator());
#endif
    if (w.on_device && !data.generator()) solver->upload(data.original().data());
    wait_for_idle_threads();
    return seconds_of([&] {
      if (!w.on_device) solver->upload(data.a());
      solver->solve(values->data());
      if (!w.on_device && w.vectors) solver->download(data.x(), w.wanted());
    });
  };
  return checked(name, run, [&data, solver, values, name] {
    const EigCase& w = data.what();
    const std::vector<double> found = smallest_of(data, *values);
    if (w.vectors && data.generator())
      return data.check(name, found,
                        TileMatrix<T>::map_device(data.runtime(), solver->a(), w.n, w.wanted(), w.n,
                                                  {w.n, std::min<index_t>(w.n, 32768)}, 0, "X"));
    HostMatrix<T> x(w.n, w.wanted());
    if (w.vectors) solver->download(x.data(), x.cols());
    return data.check(name, found, x);
  });
}

template Peer graph_eig(const EigData<float>&, const std::string&, EigMethod);
template Peer graph_eig(const EigData<double>&, const std::string&, EigMethod);
template Peer lapack_eig(const EigData<float>&);
template Peer lapack_eig(const EigData<double>&);
template Peer cusolver_eig(const EigData<float>&, const std::string&, bool);
template Peer cusolver_eig(const EigData<double>&, const std::string&, bool);

}  // namespace tesela::bench
