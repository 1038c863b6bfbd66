#include "tools/bench/least_squares/weights_peer.hpp"

#include <tesela/algorithms/least_squares/weighted_least_squares.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/host/normal_residual.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <utility>

namespace tesela::bench {
namespace {

/// The backward error of sqrt(w) A, sqrt(w) B over its bound; throws WrongResult where that is above 1.
template <class T>
double check(const std::string& peer, const cli::OlsProblem<T>& problem, const std::vector<T>& weights,
             const HostMatrix<T>& X) {
  const blas::Threads threads(blas::all_cores());
  kernels::NormalResidual<double> sums([&] {
    HostMatrix<double> x(X.rows(), X.cols());
    std::copy_n(X.data(), X.size(), x.data());
    return x;
  }());
  const HostMatrix<T>&a = problem.a, &b = problem.b;
  constexpr index_t most = 16384;
  for (index_t first = 0; first < a.rows(); first += most) {
    const index_t count = std::min(most, a.rows() - first);
    const auto scaled = [&](const HostMatrix<T>& from) {
      HostMatrix<double> block(count, from.cols());
      for (index_t j = 0; j < from.cols(); ++j)
        for (index_t i = 0; i < count; ++i)
          block(i, j) = std::sqrt(static_cast<double>(weights[static_cast<std::size_t>(first + i)])) *
                        static_cast<double>(from(first + i, j));
      return block;
    };
    const HostMatrix<double> of_a = scaled(a), of_b = scaled(b);
    sums.add(count, of_a.data(), of_a.ld(), of_b.data(), of_b.ld());
  }
  const double error = sums.result().backward_error,
               bound = std::is_same_v<T, float> ? 5e-6 : 5e-15 * std::sqrt(static_cast<double>(a.cols()));
  if (!(error <= bound))
    throw WrongResult(fmt::format("bench wls: {}: backward error {:.3g}, above {:.3g}", peer, error, bound));
  return error / bound;
}

}  // namespace

template <class T>
Peer tesela_weights(const std::string& name, cli::OlsProblem<T>& problem, std::vector<T> weights) {
  struct State {
    RestoredMatrix<T> A, B;
    std::vector<T> weights;
    std::optional<PinnedMemory> pinned;
    std::optional<TileMatrix<T>> w;
    LeastSquares<T> answer;
  };
  const index_t m = problem.shape.rows;
  const OlsOptions options = problem.options("auto");
  const TileShape tiles = problem.tiles(options);
  const auto state = std::make_shared<State>();
  state->weights = std::move(weights);
  // On devices they stay there after the first run; in host memory they are registered again for each.
  if (problem.resident) {
    state->w.emplace(*problem.runtime, m, 1, TileShape{tiles.mb, 1}, "w");
    state->w->copy_from(state->weights.data(), m);
  } else {
    state->pinned.emplace(*problem.runtime, state->weights.data(), static_cast<std::size_t>(m) * sizeof(T));
  }
  const auto run = [&problem, state, options, tiles, m] {
    problem.restore(state->A, state->B, tiles);
    if (!problem.resident)
      state->w.emplace(
          TileMatrix<T>::map(*problem.runtime, state->weights.data(), m, 1, m, TileShape{tiles.mb, 1}, "w"));
    wait_for_idle_threads();
    return seconds_of([&] {
      Graph g(*problem.runtime);
      state->answer = wls(g, *state->A, *state->B, *state->w, options);
    });
  };
  return checked(name, run, [&problem, state, name] {
    if (state->answer.status != SolveStatus::ok)
      throw WrongResult("bench wls: " + name + ": " + description(state->answer.status));
    return check(name, problem, state->weights, state->answer.X);
  });
}

template Peer tesela_weights(const std::string&, cli::OlsProblem<float>&, std::vector<float>);
template Peer tesela_weights(const std::string&, cli::OlsProblem<double>&, std::vector<double>);

}  // namespace tesela::bench
