#include "tools/bench/eigen/eig_peers.hpp"
#include <tesela/algorithms/eigen/band_to_tridiagonal.hpp>
#include <tesela/algorithms/eigen/reduce_to_band.hpp>
#include <tesela/algorithms/eigen/tridiagonal_eig.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tesela::bench {
namespace {

template <class T>
struct Reduced {
  RestoredMatrix<T> tiles;
  std::optional<SymmetricBand<T>> band;
  std::optional<BandReduction<T>> q;
};

/// Returns B Y from the band's diagonals.
template <class T>
HostMatrix<double> times(const SymmetricBand<T>& band, const HostMatrix<double>& y) {
  const index_t n = band.order();
  HostMatrix<double> z = HostMatrix<double>::zeros(n, y.cols());
  for (index_t d = 0; d <= std::min(band.half_width(), n - 1); ++d) {
    const std::vector<T> diagonal = band.diagonal(d);
    for (index_t c = 0; c < y.cols(); ++c)
      for (index_t j = 0; j + d < n; ++j) {
        const auto b = static_cast<double>(diagonal[static_cast<std::size_t>(j)]);
        z(j + d, c) += b * y(j, c);
        if (d > 0) z(j, c) += b * y(j + d, c);
      }
  }
  return z;
}

template <class T>
HostMatrix<double> apply(Runtime& runtime, const BandReduction<T>& q, Op op, const HostMatrix<double>& y) {
  const index_t n = y.rows(), k = y.cols();
  HostMatrix<T> x(n, k);
  std::copy_n(y.data(), y.size(), x.data());
  {
    const auto X = TileMatrix<T>::map(runtime, x.data(), n, k, n, {n, k}, "X");
    Graph g(runtime);
    q.apply(g, op, X);
    g.wait();
  }
  HostMatrix<double> result(n, k);
  std::copy_n(x.data(), x.size(), result.data());
  return result;
}

/// Returns max ||A y - Q B Q^T y|| / (||A||_F n^-1/2 ||y||) for a few random vectors y, relative to the bound of a
/// residual.
template <class T>
double error_of(cli::EigProblem<T>& p, const Reduced<T>& r) {
  const index_t n = p.n(), samples = 4;
  const Generator<double> random{Pattern::uniform, 0, 0, 1};
  HostMatrix<double> y(n, samples);
  for (index_t c = 0; c < samples; ++c)
    for (index_t i = 0; i < n; ++i) y(i, c) = random(i, c) < 0 ? -1 : 1;
  Runtime& runtime = *p.runtime;
  const HostMatrix<double> by_a = p.times(y), by_band = apply(runtime, *r.q, Op::none,
                                                              times(*r.band, apply(runtime, *r.q, Op::transpose, y)));
  const double size = p.moments().frobenius;  // ||y|| is sqrt(n)
  double largest = 0;
  for (index_t c = 0; c < samples; ++c) {
    double squares = 0;
    for (index_t i = 0; i < n; ++i) squares += (by_a(i, c) - by_band(i, c)) * (by_a(i, c) - by_band(i, c));
    largest = std::isnan(squares) ? squares : std::max(largest, std::sqrt(squares) / size);
  }
  return largest / eig_bounds<T>(n).value;
}

}  // namespace

template <class T>
Peer graph_band(cli::EigProblem<T>& p, const std::string& name) {
  const auto state = std::make_shared<Reduced<T>>();
  const auto run = [&p, state] {
    const index_t n = p.n(), wanted = p.options.band > 0 ? p.options.band : band_half_width(*p.runtime),
                  b = std::clamp<index_t>(wanted, 1, std::max<index_t>(n - 1, 1));
    state->q.reset();  // before A needs room
    state->band.reset();
    p.restore(state->tiles, p.a, p.work, eig_tile(*p.runtime, n, p.options));
    state->band.emplace(*p.runtime, n, b, band_window(*p.runtime, n, b));
    wait_for_idle_threads();
    return seconds_of([&] {
      Graph g(*p.runtime);
      state->q.emplace(reduce_to_band(g, *state->tiles, *state->band, {.block = p.options.block}));
      g.wait();
    });
  };
  return checked(name, run, [&p, state, name] {
    const double error = error_of(p, *state);
    if (error <= 1) return error;
    throw WrongResult(fmt::format("{}: n = {}: an error is {:.3g} times its bound", name, p.n(), error));
  });
}

TESELA_FUNCTIONS_FOR_REALS(graph_band)

}  // namespace tesela::bench
