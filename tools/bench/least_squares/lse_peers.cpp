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
Peer tesela_lse(LseData<T>& data) {
  struct State {
    RestoredMatrix<T> A, B;
    ConstrainedLeastSquares<T> answer;
  };
  const auto state = std::make_shared<State>();
  const OlsOptions options = data.unconstrained().options("auto");
  const auto run = [&data, state, options, tiles = data.unconstrained().tiles(options)] {
    cli::OlsProblem<T>& ols = data.unconstrained();
    ols.restore(state->A, state->B, tiles);
    wait_for_idle_threads();
    return seconds_of([&] {
      Graph g(*ols.runtime);
      state->answer = lse(g, *state->A, *state->B, data.c(), data.d(), options);
    });
  };
  return checked("tesela", run, [&data, state] {
    if (state->answer.status != SolveStatus::ok)
      throw WrongResult(std::string("bench lse: tesela: ") + description(state->answer.status));
    return data.check("tesela", state->answer.X);
  });
}

template <class T>
Peer lapack_lse(LseData<T>& data) {
  const auto x = std::make_shared<HostMatrix<T>>(data.c().cols(), data.d().cols());
  const auto run = [&data, x] {
    cli::OlsProblem<T>& ols = data.unconstrained();
    const index_t p = data.c().rows(), n = data.c().cols();
    const blas::Threads threads(blas::all_cores());
    const PausedWorkers paused;
    double seconds = 0;
    for (index_t k = 0; k < ols.rhs; ++k) {
      ols.restore();
      HostMatrix<T> c = data.c().clone(), d(p, 1);
      std::copy_n(data.d().data() + k * data.d().ld(), p, d.data());
      wait_for_idle_threads();
      seconds += seconds_of([&] {
        lapack::gglse(ols.shape.rows, n, p, ols.work_a.data(), ols.work_a.ld(), c.data(), c.ld(),
                      ols.work_b.data() + k * ols.work_b.ld(), d.data(), x->data() + k * n);
      });
    }
    return seconds;
  };
  return checked("lapack", run, [&data, x] { return data.check("lapack", *x); });
}

template <class T>
Peer cusolver_lse(LseData<T>& data) {
  const auto [m, n] = data.unconstrained().shape;
  const auto solver = std::make_shared<CusolverLse<T>>(m, n, data.c().rows(), data.d().cols());
  const auto x = std::make_shared<HostMatrix<T>>(n, data.d().cols());
  const auto run = [&data, solver, x] {
    cli::OlsProblem<T>& ols = data.unconstrained();
    const PausedWorkers paused;
    if (!ols.resident) ols.restore();
#if TESELA_HAVE_CUDA
    if (ols.resident) {
      generate(solver->data(0), ols.shape.rows, ols.shape.cols, ols.a_generator());
      generate(solver->data(1), ols.shape.rows, ols.rhs, ols.b_generator());
    }
#endif
    wait_for_idle_threads();
    return seconds_of([&] {
      if (!ols.resident) {
        solver->upload(0, ols.work_a.data());
        solver->upload(1, ols.work_b.data());
      }
      solver->upload(2, data.c().data());  // in host memory, as the graph has them
      solver->upload(3, data.d().data());
      solver->solve(x->data());
    });
  };
  return checked("cusolver", run, [&data, x] { return data.check("cusolver", *x); });
}

#define TESELA_INSTANTIATE(T)            \
  template Peer tesela_lse(LseData<T>&); \
  template Peer lapack_lse(LseData<T>&); \
  template Peer cusolver_lse(LseData<T>&);
TESELA_INSTANTIATE(float)
TESELA_INSTANTIATE(double)
#undef TESELA_INSTANTIATE

}  // namespace tesela::bench
