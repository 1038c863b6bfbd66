#include "tools/bench/toeplitz/toeplitz_peers.hpp"

#include "tools/checks/toeplitz_spectrum_error.hpp"
#include "tools/peers/cusolver_eig.hpp"
#include "tools/peers/harness.hpp"
#include <tesela/codelets/toeplitz/toeplitz_dense.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/host/lapack.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tesela::bench {

using namespace kernels;
namespace {

template <class T>
HostMatrix<T> half(const HostMatrix<T>& t, int part) {
  const index_t rows = cauchy_rows(t.rows(), part);
  HostMatrix<T> a(rows, rows);
  if (rows > 0) toeplitz_half(t.rows(), t.data(), part, a.data(), a.ld());
  return a;
}

template <class T>
void sort_into(std::vector<double>& values, const std::vector<T>& found) {
  values.assign(found.begin(), found.end());
  std::sort(values.begin(), values.end());
}

/// Vectors from the middle of the spectrum, a few tiles of them.
template <class T>
void check_neighbours(const HostMatrix<T>& t, const Spectrum<T>& s) {
  const TileMatrix<T>& v = *s.vectors;
  const index_t nb = v.tile_shape().nb, tiles = std::min<index_t>(v.nt(), ceil_div(index_t{512}, nb)),
                from = (v.nt() - tiles) / 2;
  const TileMatrix<T> some = v.view(0, from, v.mt(), tiles);
  HostMatrix<T> x(v.m(), some.n());
  some.copy_to(x.data(), x.ld());
  const auto first = static_cast<std::size_t>(from * nb), count = static_cast<std::size_t>(some.n());
  const double norm = toeplitz_norm_estimate(t.rows(), t.data(), s.values);
  const ToeplitzSpectrumError error =
      toeplitz_spectrum_error(t.rows(), t.data(), std::span<const double>(s.values).subspan(first, count),
                              std::span<const signed char>(s.symmetry).subspan(first, count), x.data(), norm);
  const double bound = 1e4 * static_cast<double>(std::numeric_limits<T>::epsilon());
  if (!(error.residual <= bound) || !(error.orthogonality <= 1e3 * bound))
    throw WrongResult(fmt::format("bench toeplitz: eigenvectors with a residual of {:.2e} and overlaps of {:.2e}",
                                  error.residual, error.orthogonality));
}

}  // namespace

template <class T>
ToeplitzPeer tesela_spectrum(Runtime& runtime, const HostMatrix<T>& t, const SpectrumOptions& options) {
  const auto values = std::make_shared<std::vector<double>>();
  const auto found = std::make_shared<Spectrum<T>>();
  ToeplitzPeer peer{[&runtime, &t, options, values, found] {
                      *found = {};
                      wait_for_idle_threads();
                      const double seconds = seconds_of([&] {
                        Graph g(runtime);
                        *found = toeplitz_spectrum<T>(
                            g, std::span<const T>(t.data(), static_cast<std::size_t>(t.rows())), options);
                      });
                      *values = found->values;
                      return seconds;
                    },
                    values};
  if (options.vectors) peer.check_vectors = [&t, found] { check_neighbours(t, *found); };
  return peer;
}

template <class T>
ToeplitzPeer lapack_spectrum(const HostMatrix<T>& t, bool vectors) {
  const auto values = std::make_shared<std::vector<double>>();
  return {[&t, vectors, values] {
            const index_t n = t.rows();
            const PausedWorkers paused;
            HostMatrix<T> a(n, n);
            for (index_t j = 0; j < n; ++j)
              for (index_t i = 0; i < n; ++i) a(i, j) = t(std::abs(i - j), 0);
            std::vector<T> w(static_cast<std::size_t>(n));
            const blas::Threads threads(blas::all_cores());
            wait_for_idle_threads();
            const double seconds = seconds_of([&] { lapack::syevd(n, a.data(), a.ld(), w.data(), vectors); });
            sort_into(*values, w);
            return seconds;
          },
          values};
}

template <class T>
ToeplitzPeer lapack_halves(const HostMatrix<T>& t, bool vectors) {
  const auto values = std::make_shared<std::vector<double>>();
  return {[&t, vectors, values] {
            const PausedWorkers paused;
            HostMatrix<T> symmetric = half(t, 0), skew = half(t, 1);
            std::vector<T> w(static_cast<std::size_t>(t.rows()));
            const blas::Threads threads(blas::all_cores());
            wait_for_idle_threads();
            const double seconds = seconds_of([&] {
              lapack::syevd(symmetric.rows(), symmetric.data(), symmetric.ld(), w.data(), vectors);
              lapack::syevd(skew.rows(), skew.data(), skew.ld(), w.data() + symmetric.rows(), vectors);
            });
            sort_into(*values, w);
            return seconds;
          },
          values};
}

template <class T>
ToeplitzPeer cusolver_spectrum(const HostMatrix<T>& t, bool vectors) {
  const auto values = std::make_shared<std::vector<double>>();
  const auto solver = std::make_shared<CusolverEig<T>>(t.rows(), vectors);
  return {[&t, values, solver] {
            const PausedWorkers paused;
            std::vector<T> w(static_cast<std::size_t>(t.rows()));
            solver->fill_toeplitz(t.data());
            wait_for_idle_threads();
            const double seconds = seconds_of([&] { solver->solve(w.data()); });
            sort_into(*values, w);
            return seconds;
          },
          values};
}

template <class T>
ToeplitzPeer cusolver_halves(const HostMatrix<T>& t, bool vectors) {
  const auto values = std::make_shared<std::vector<double>>();
  struct Halves {
    CusolverEig<T> symmetric, skew;
  };
  const auto solvers = std::shared_ptr<Halves>(
      new Halves{CusolverEig<T>(cauchy_rows(t.rows(), 0), vectors), CusolverEig<T>(cauchy_rows(t.rows(), 1), vectors)});
  return {[&t, values, solvers] {
            const PausedWorkers paused;
            std::vector<T> w(static_cast<std::size_t>(t.rows()));
            solvers->symmetric.upload(half(t, 0).data());
            solvers->skew.upload(half(t, 1).data());
            wait_for_idle_threads();
            const double seconds = seconds_of([&] {
              solvers->symmetric.solve(w.data());
              solvers->skew.solve(w.data() + cauchy_rows(t.rows(), 0));
            });
            sort_into(*values, w);
            return seconds;
          },
          values};
}

template <class T>
double check_spectrum(const std::string& peer, const HostMatrix<T>& t, const std::vector<double>& values,
                      std::vector<double>& right) {
  const index_t n = t.rows();
  if (static_cast<index_t>(values.size()) != n)
    throw WrongResult(fmt::format("bench toeplitz: {}: {} of {} eigenvalues", peer, values.size(), n));
  double trace = 0, squares = 0, sum = 0, sum_squares = 0, largest = 0, error = 0;
  for (index_t k = 0; k < n; ++k) {
    const auto v = static_cast<double>(t(k, 0));
    trace += k == 0 ? static_cast<double>(n) * v : 0;
    squares += (k == 0 ? 1 : 2) * static_cast<double>(n - k) * v * v;
  }
  for (const double value : values) {
    if (!std::isfinite(value)) throw WrongResult(fmt::format("bench toeplitz: {}: {}", peer, value));
    sum += value;
    sum_squares += value * value;
    largest = std::max(largest, std::abs(value));
  }
  if (right.empty()) right = values;
  for (std::size_t i = 0; i < values.size(); ++i) error = std::max(error, std::abs(values[i] - right[i]) / largest);
  const double count = static_cast<double>(n);
  error = std::max({error, std::abs(sum - trace) / (count * largest), std::abs(sum_squares - squares) / squares});
  const double bound = 1e4 * static_cast<double>(std::numeric_limits<T>::epsilon());
  if (!(error <= bound)) throw WrongResult(fmt::format("bench toeplitz: {}: error {:.2e}", peer, error));
  return error / bound;
}

#define TESELA_TOEPLITZ_PEERS(T)                                                                       \
  template ToeplitzPeer tesela_spectrum(Runtime&, const HostMatrix<T>&, const SpectrumOptions&);       \
  template ToeplitzPeer lapack_spectrum(const HostMatrix<T>&, bool);                                   \
  template ToeplitzPeer lapack_halves(const HostMatrix<T>&, bool);                                     \
  template ToeplitzPeer cusolver_spectrum(const HostMatrix<T>&, bool);                                 \
  template ToeplitzPeer cusolver_halves(const HostMatrix<T>&, bool);                                   \
  template double check_spectrum(const std::string&, const HostMatrix<T>&, const std::vector<double>&, \
                                 std::vector<double>&);
TESELA_TOEPLITZ_PEERS(float)
TESELA_TOEPLITZ_PEERS(double)

}  // namespace tesela::bench
