#include "tools/bench/least_squares/ols_tiles.hpp"
#include "tools/peers/cusolver_lse.hpp"
#include "tools/problems/least_squares/lse_data.hpp"
#include <tesela/algorithms/least_squares/constrained_least_squares.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/host/lapack.hpp>

#include <algorithm>

#if TESELA_HAVE_CUDA
#include "tools/peers/generate.hpp"
#endif

namespace tesela::bench {

template <class T>
Peer tesela_lse(const LseData<T>& data) {
  const auto tiles = std::make_shared<OlsTiles<T>>();
  const auto answer = std::make_shared<ConstrainedLeastSquares<T>>();
  const auto run = [&data, tiles, answer] {
    const OlsData<T>& ols = data.unconstrained();
    tiles->restore(ols);
    wait_for_idle_threads();
    return seconds_of([&] {
      Graph g(ols.runtime());
      *answer = lse(g, *tiles->A, *tiles->B, data.c(), data.d(), data.what().options);
    });
  };
  return checked("tesela", run, [&data, answer] {
    if (answer->status != SolveStatus::ok)
      throw WrongResult(std::string("bench lse: tesela: ") + description(answer->status));
    return data.check("tesela", answer->X);
  });
}

template <class T>
Peer lapack_lse(const LseData<T>& data) {
  const OlsCase& w = data.what();
  const auto x = std::make_shared<HostMatrix<T>>(w.n, w.rhs);
  const auto run = [&data, x] {
    const OlsCase& what = data.what();
    const OlsData<T>& ols = data.unconstrained();
    const index_t p = data.c().rows();
    const blas::Threads threads(blas::all_cores());
    const PausedWorkers paused;
    double seconds = 0;
    for (index_t k = 0; k < what.rhs; ++k) {
      ols.restore();
      HostMatrix<T> c = data.c().clone(), d(p, 1);
      std::copy_n(data.d().data() + k * data.d().ld(), p, d.data());
      wait_for_idle_threads();
      seconds += seconds_of([&] {
        lapack::gglse(what.m, what.n, p, ols.a(), what.m, c.data(), c.ld(), ols.b() + k * what.m, d.data(),
                      x->data() + k * what.n);
      });
    }
    return seconds;
  };
  return checked("lapack", run, [&data, x] { return data.check("lapack", *x); });
}

template <class T>
Peer cusolver_lse(const LseData<T>& data) {
  const OlsCase& w = data.what();
  const auto solver = std::make_shared<CusolverLse<T>>(w.m, w.n, data.c().rows(), w.rhs);
  const auto x = std::make_shared<HostMatrix<T>>(w.n, w.rhs);
  const auto run = [&data, solver, x] {
    const OlsCase& what = data.what();
    const OlsData<T>& ols = data.unconstrained();
    const PausedWorkers paused;
    if (!what.on_device) ols.restore();
#if TESELA_HAVE_CUDA
    if (what.on_device) {
      generate(solver->data(0), what.m, what.n, ols.a_generator());
      generate(solver->data(1), what.m, what.rhs, ols.b_generator());
    }
#endif
    wait_for_idle_threads();
    return seconds_of([&] {
      if (!what.on_device) {
        solver->upload(0, ols.a());
        solver->upload(1, ols.b());
      }
      solver->upload(2, data.c().data());  // in host memory, as the graph has them
      solver->upload(3, data.d().data());
      solver->solve(x->data());
    });
  };
  return checked("cusolver", run, [&data, x] { return data.check("cusolver", *x); });
}

#define TESELA_INSTANTIATE(T)                  \
  template Peer tesela_lse(const LseData<T>&); \
  template Peer lapack_lse(const LseData<T>&); \
  template Peer cusolver_lse(const LseData<T>&);
TESELA_INSTANTIATE(float)
TESELA_INSTANTIATE(double)
#undef TESELA_INSTANTIATE

}  // namespace tesela::bench
