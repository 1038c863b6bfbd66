#include "tools/peers/cusolver_generalized_eig.hpp"
#include "tools/peers/restored.hpp"
#include "tools/problems/eigen/generalized_eig_data.hpp"
#include <tesela/host/blas.hpp>
#include <tesela/host/lapack.hpp>

#include <algorithm>

namespace tesela::bench {
namespace {

template <class T>
struct Mine {
  RestoredMatrix<T> a, b;
  std::optional<SymmetricEig<T>> eig;

  void restore(const GeneralizedEigData<T>& data) {
    const GeneralizedEigCase& w = data.what();
    Runtime& runtime = data.runtime();
    const Shape shape{w.n, w.n};
    const index_t nb = suitable_generalized_tile(runtime, w.n);
    const TileShape tile{nb, nb};
    eig.reset();  // before A takes room
    if (!w.on_device) {
      a.release();
      b.release();
      data.restore();
      a.on_host(runtime, data.a(), shape, tile);
      b.on_host(runtime, data.b(), shape, tile);
      return;
    }
    const auto put = [&](RestoredMatrix<T>& matrix, const HostMatrix<T>& original) {
      matrix.on_devices(
          runtime, shape, tile, [&](Graph&, const TileMatrix<T>& first) { first.copy_from(original.data(), w.n); },
          [](index_t j) { return on_gpu_number(static_cast<std::size_t>(j)); });
    };
    put(a, data.original_a());
    put(b, data.original_b());
  }
};

template <class T>
HostMatrix<T> copied(index_t n, const T* from) {
  HostMatrix<T> x(n, n);
  std::copy_n(from, x.size(), x.data());
  return x;
}

}  // namespace

template <class T>
Peer graph_generalized_eig(const GeneralizedEigData<T>& data, const std::string& name, EigMethod method) {
  const auto mine = std::make_shared<Mine<T>>();
  const auto run = [&data, mine, method] {
    const GeneralizedEigCase& w = data.what();
    mine->restore(data);
    wait_for_idle_threads();
    return seconds_of([&] {
      Graph g(data.runtime());
      const SymmetricEigOptions eig{.method = method, .vectors = w.vectors, .band = w.band, .block = w.block};
      mine->eig = generalized_eig(g, *mine->a, *mine->b, {GeneralizedKind::ax_lambda_bx, eig});
      g.wait();
      if (!w.on_device && w.vectors && mine->eig->status.ok()) mine->eig->vectors->copy_to(data.x(), w.n);
    });
  };
  return checked(name, run, [&data, mine, name] {
    const SymmetricEig<T>& eig = *mine->eig;
    if (!eig.status.ok()) throw WrongResult(name + ": " + to_string(eig.status));
    HostMatrix<T> x;
    if (eig.vectors) {
      x = HostMatrix<T>(eig.vectors->m(), eig.vectors->n());
      eig.vectors->copy_to(x.data(), x.ld());
    }
    return data.check(name, eig.values, x);
  });
}

template <class T>
Peer lapack_generalized_eig(const GeneralizedEigData<T>& data) {
  const auto values = std::make_shared<std::vector<T>>(static_cast<std::size_t>(data.what().n));
  const auto run = [&data, values] {
    const PausedWorkers paused;
    const index_t n = data.what().n;
    data.restore();
    wait_for_idle_threads();
    const blas::Threads threads(blas::all_cores());
    return seconds_of([&] { lapack::sygvd<T>(1, n, data.a(), n, data.b(), n, values->data(), data.what().vectors); });
  };
  return checked("lapack", run, [&data, values] {
    return data.check("lapack", {values->begin(), values->end()}, copied(data.what().n, data.a()));
  });
}

template <class T>
Peer cusolver_generalized_eig(const GeneralizedEigData<T>& data) {
  const GeneralizedEigCase& what = data.what();
  const auto solver = std::make_shared<CusolverGeneralizedEig<T>>(what.n, what.vectors);
  const auto values = std::make_shared<std::vector<T>>(static_cast<std::size_t>(what.n));
  const auto run = [&data, solver, values] {
    const GeneralizedEigCase& w = data.what();
    const PausedWorkers paused;
    if (w.on_device)
      solver->upload(data.original_a().data(), data.original_b().data());
    else
      data.restore();
    wait_for_idle_threads();
    return seconds_of([&] {
      if (!w.on_device) solver->upload(data.a(), data.b());
      solver->solve(values->data());
      if (!w.on_device && w.vectors) solver->download(data.x());
    });
  };
  return checked("cusolver", run, [&data, solver, values] {
    const GeneralizedEigCase& w = data.what();
    HostMatrix<T> x(w.n, w.n);
    if (w.vectors) solver->download(x.data());
    return data.check("cusolver", {values->begin(), values->end()}, x);
  });
}

template Peer graph_generalized_eig(const GeneralizedEigData<float>&, const std::string&, EigMethod);
template Peer graph_generalized_eig(const GeneralizedEigData<double>&, const std::string&, EigMethod);
template Peer lapack_generalized_eig(const GeneralizedEigData<float>&);
template Peer lapack_generalized_eig(const GeneralizedEigData<double>&);
template Peer cusolver_generalized_eig(const GeneralizedEigData<float>&);
template Peer cusolver_generalized_eig(const GeneralizedEigData<double>&);

}  // namespace tesela::bench
