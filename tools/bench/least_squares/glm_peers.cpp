#include "tools/peers/cusolver_glm.hpp"
#include "tools/peers/restored.hpp"
#include "tools/problems/least_squares/glm_data.hpp"
#include <tesela/algorithms/dense/matrices.hpp>
#include <tesela/algorithms/least_squares/generalized_least_squares.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/host/lapack.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#if TESELA_HAVE_CUDA
#include "tools/peers/device.hpp"
#include "tools/peers/generate.hpp"
#endif

namespace tesela::bench {
namespace {

/// Our graph's matrices, and the last answer.
template <class T>
struct Tiles {
  std::array<RestoredMatrix<T>, 3> matrices;
  Glm<T> answer;

  void restore(const GlmData<T>& data) {
    const GlmCase& w = data.what();
    const std::array<TileShape, 3> cut{w.tiles.a, w.tiles.b, {w.tiles.a.mb, std::max<index_t>(w.rhs, 1)}};
    if (!w.on_device) {
      for (auto& matrix : matrices) matrix.release();
      data.restore();
    }
    for (int which = 0; which < 3; ++which) {
      auto& matrix = matrices[static_cast<std::size_t>(which)];
      const TileShape tile = cut[static_cast<std::size_t>(which)];
      if (!w.on_device)
        matrix.on_host(data.runtime(), data.data(which), data.shape(which), tile);
      else
        matrix.on_devices(
            data.runtime(), data.shape(which), tile,
            [&](Graph& g, const TileMatrix<T>& original) { fill(g, original, data.generator(which)); },
            [](index_t) { return Priority{}; });
    }
  }
};

}  // namespace

template <class T>
Peer tesela_glm(const std::string& name, GlmMethod method, const GlmData<T>& data) {
  const auto tiles = std::make_shared<Tiles<T>>();
  const auto run = [&data, tiles, method] {
    tiles->restore(data);
    wait_for_idle_threads();
    return seconds_of([&] {
      Graph g(data.runtime());
      const auto& [A, B, b] = tiles->matrices;
      tiles->answer = glm(g, *A, *B, *b, {.method = method});
    });
  };
  return checked(name, run, [&data, tiles, name] {
    if (tiles->answer.status != SolveStatus::ok)
      throw WrongResult("bench glm: " + name + ": " + description(tiles->answer.status));
    return data.check(name, tiles->answer.X, tiles->answer.U);
  });
}

template <class T>
Peer tesela_gls_factor(const std::string& name, const GlmData<T>& data) {
  const auto tiles = std::make_shared<Tiles<T>>();
  const auto answer = std::make_shared<GeneralizedLeastSquares<T>>();
  const auto run = [&data, tiles, answer] {
    tiles->restore(data);
    HostMatrix<T> factor = data.original(1).clone();
    wait_for_idle_threads();
    return seconds_of([&] {
      Graph g(data.runtime());
      const auto& [A, B, b] = tiles->matrices;
      *answer = gls_factor(g, *A, *b, std::move(factor));
    });
  };
  return checked(name, run, [&data, answer, name] {
    if (answer->status != SolveStatus::ok) throw WrongResult("bench wls: " + name + ": " + description(answer->status));
    if (answer->path == CovariancePath::model) return data.check(name, answer->X, answer->U);
    double norm = 0;
    for (const T of_column : answer->residual_norms) norm = std::hypot(norm, static_cast<double>(of_column));
    return data.check_divided(name, answer->X, norm, answer->factor_condition);
  });
}

template <class T>
Peer lapack_glm(const GlmData<T>& data) {
  const GlmCase& w = data.what();
  const auto x = std::make_shared<HostMatrix<T>>(w.n, w.rhs), u = std::make_shared<HostMatrix<T>>(w.p, w.rhs);
  const auto run = [&data, x, u] {
    const GlmCase& what = data.what();
    const blas::Threads threads(blas::all_cores());
    const PausedWorkers paused;
    double seconds = 0;
    HostMatrix<T> rhs(what.m, what.rhs);
    for (index_t j = 0; j < what.rhs; ++j) {
      data.restore();
      wait_for_idle_threads();
      seconds += seconds_of([&] {
        lapack::ggglm(what.m, what.n, what.p, data.data(0), what.m, data.data(1), what.m, data.data(2) + j * what.m,
                      x->data() + j * what.n, u->data() + j * what.p);
      });
    }
    return seconds;
  };
  return checked("lapack", run, [&data, x, u] { return data.check("lapack", *x, *u); });
}

template <class T>
Peer cusolver_glm(const std::string& name, bool whole, const GlmData<T>& data) {
  const GlmCase& w = data.what();
  const auto solver = std::make_shared<CusolverGlm<T>>(w.m, w.n, w.p, w.rhs, whole);
  const auto x = std::make_shared<HostMatrix<T>>(w.n, w.rhs), u = std::make_shared<HostMatrix<T>>(w.p, w.rhs);
  const auto run = [&data, solver, x, u] {
    const GlmCase& what = data.what();
    const PausedWorkers paused;
    if (!what.on_device) data.restore();
#if TESELA_HAVE_CUDA
    if (what.on_device)
      for (int which = 0; which < 3; ++which)
        generate(solver->data(which), what.m, data.shape(which).cols, data.generator(which));
#endif
    wait_for_idle_threads();
    return seconds_of([&] {
      if (!what.on_device)
        for (int which = 0; which < 3; ++which) solver->upload(which, data.data(which));
      solver->solve(x->data(), u->data());
    });
  };
  return checked(name, run, [&data, x, u, name] { return data.check(name, *x, *u); });
}

#define TESELA_INSTANTIATE(T)                                                 \
  template Peer tesela_glm(const std::string&, GlmMethod, const GlmData<T>&); \
  template Peer tesela_gls_factor(const std::string&, const GlmData<T>&);     \
  template Peer lapack_glm(const GlmData<T>&);                                \
  template Peer cusolver_glm(const std::string&, bool, const GlmData<T>&);
TESELA_INSTANTIATE(float)
TESELA_INSTANTIATE(double)
#undef TESELA_INSTANTIATE

}  // namespace tesela::bench
