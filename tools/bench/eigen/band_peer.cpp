#include "tools/bench/eigen/eig_tiles.hpp"
#include <tesela/algorithms/eigen/band_to_tridiagonal.hpp>
#include <tesela/algorithms/eigen/reduce_to_band.hpp>
#include <tesela/algorithms/eigen/tridiagonal_eig.hpp>

#include <algorithm>
#include <cmath>

namespace tesela::bench {
namespace {

template <class T>
struct Reduced {
  EigTiles<T> tiles;
  std::optional<SymmetricBand<T>> band;
  std::optional<BandReduction<T>> q;
};

/// B Y from the band's diagonals.
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

/// max ||A y - Q B Q^T y|| / (||A||_F n^-1/2 ||y||) for a few random vectors y, over the bound of a residual; and
/// whether B's elements have the squares of A's.
template <class T>
double error_of(const EigData<T>& data, const Reduced<T>& r) {
  const index_t n = data.what().n, samples = 4;
  const Generator<double> random{Pattern::uniform, 0, 0, 1};
  HostMatrix<double> y(n, samples);
  for (index_t c = 0; c < samples; ++c)
    for (index_t i = 0; i < n; ++i) y(i, c) = random(i, c) < 0 ? -1 : 1;
  Runtime& runtime = data.runtime();
  const HostMatrix<double> by_a = data.times(y),
                           by_band =
                               apply(runtime, *r.q, Op::none, times(*r.band, apply(runtime, *r.q, Op::transpose, y)));
  const double size = data.moments().frobenius;  // ||y|| is sqrt(n)
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
Peer graph_band(const EigData<T>& data, const std::string& name) {
  const auto mine = std::make_shared<Reduced<T>>();
  const auto run = [&data, mine] {
    const EigCase& w = data.what();
    Runtime& runtime = data.runtime();
    mine->q.reset();  // before A takes room
    mine->band.reset();
    const TileMatrix<T>& A = mine->tiles.restore(data);
    const index_t wanted = w.band > 0 ? w.band : suitable_band(runtime),
                  b = std::clamp<index_t>(wanted, 1, std::max<index_t>(w.n - 1, 1));
    mine->band.emplace(runtime, w.n, b, suitable_band_window(runtime, w.n, b));
    wait_for_idle_threads();
    return seconds_of([&] {
      Graph g(runtime);
      mine->q.emplace(reduce_to_band(g, A, *mine->band, {.block = w.block}));
      g.wait();
    });
  };
  return checked(name, run, [&data, mine, name] { return data.at_most_one(name, error_of(data, *mine)); });
}

template Peer graph_band(const EigData<float>&, const std::string&);
template Peer graph_band(const EigData<double>&, const std::string&);

}  // namespace tesela::bench
