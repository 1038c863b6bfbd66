#include "tools/problems/toeplitz/toeplitz_spectrum.hpp"

#include "tools/app/numbers.hpp"
#include "tools/checks/eig_error.hpp"
#include "tools/checks/toeplitz_spectrum_error.hpp"
#include "tools/peers/cusolver_eig.hpp"
#include <tesela/algorithms/toeplitz/hermitian_toeplitz_eig.hpp>
#include <tesela/codelets/toeplitz/toeplitz_dense.hpp>
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/runtime/config.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace tesela::cli {

using namespace kernels;

void SpectrumSettings::add_to(App& app) {
  app.add_option("--preset", preset,
                 "fast (chosen by measurements), or published: the choices of Graciá Gil 2010, including a tolerance "
                 "of 0.1 and "
                 "Levinson's recursion")
      ->check(one_of({"fast", "published"}))
      ->show_default();
  Choices().add(spectrum_methods()).add_option(app, "--method", method);
  app.add_option("--per-interval", per_interval, "eigenvalues in an interval at most (Graciá Gil 2010: 2)")->positive();
  app.add_option("--dk", dk, "Lanczos steps between tests of convergence (Graciá Gil 2010: 2)")->positive();
  app.add_option("--max-attempts", max_attempts, "shifts tried in an interval (Graciá Gil 2010: 5)")->positive();
  app.add_option("--krylov-factor", krylov_factor,
                 "Lanczos steps at most, for each of the eigenvalues that an interval may hold (Graciá Gil 2010: 5; "
                 "fast: 2, and "
                 "32 more)")
      ->positive();
  app.add_option("--tol", tolerance,
                 "residual of a Ritz value, relative to it (default: by precision; Graciá Gil 2010: 0.1)")
      ->positive();
  const Choices solvers = Choices().add(toeplitz_solvers());
  solvers.add_option(app, "--solver", solver, "solver of a Lanczos step: ");
  solvers.add_option(app, "--counter", counter, "method whose pivots count the eigenvalues of an interval: ");
  app.add_option("--shift", shift, "an interval's first shift: midpoint or random")
      ->check(one_of({"midpoint", "random"}));
  app.add_option("--start", start, "first vectors: fixed ((e_1 +- e_n) / sqrt(2)) or random")
      ->check(one_of({"fixed", "random"}));
  app.add_option("--divided", divided,
                 "range that is divided into intervals first: disc (Gershgorin's: Graciá Gil 2010) or near (where most "
                 "eigenvalues are, then outwards)")
      ->check(one_of({"disc", "near"}));
  Choices().add(lanczos_tasks()).add_option(app, "--lanczos", tasks, "tasks of the steps in an interval: ");
  app.add_option("--window", window, "intervals in flight: bounds the memory (default: by workers)")->positive();
  app.add_option("--group", group, "intervals that one task steps (default: 1 on cores, 64 on a GPU)")->positive();
}

SpectrumOptions SpectrumSettings::options(std::uint64_t seed) const {
  SpectrumOptions o = preset == "published" ? SpectrumOptions::published() : SpectrumOptions();
  if (method != "auto") o.method = *find_named(spectrum_methods(), method);
  if (per_interval > 0) o.per_interval = per_interval;
  if (dk > 0) o.dk = dk;
  if (max_attempts > 0) o.max_attempts = max_attempts;
  if (krylov_factor > 0) {
    o.krylov_factor = krylov_factor;
    o.krylov_more = 0;  // the preset's value belongs to its factor
  }
  if (tolerance > 0) o.tolerance = tolerance;
  if (!shift.empty()) o.midpoint = shift == "midpoint";
  if (!start.empty()) o.fixed_start = start == "fixed";
  if (!divided.empty()) o.gershgorin = divided == "disc";
  if (!solver.empty()) o.solver = *find_named(toeplitz_solvers(), solver);
  if (!counter.empty()) o.counter = *find_named(toeplitz_solvers(), counter);
  o.tasks = *find_named(lanczos_tasks(), tasks);
  o.window = window;
  o.group = group;
  o.seed = seed;
  return o;
}

namespace {

template <class T>
Solver<Spectrum<T>> by_graph(const SpectrumProblem<T>& p, SpectrumMethod method) {
  const auto found = std::make_shared<Spectrum<T>>();
  return {[found] { *found = {}; },
          [&p, method, found](Graph* g) {
            SpectrumOptions options = p.options;
            if (method != SpectrumMethod::automatic) options.method = method;
            *found = toeplitz_spectrum<T>(*g, {p.t.data(), static_cast<std::size_t>(p.t.rows())}, options);
          },
          {},
          [found] { return *found; }};
}

/// Solves a complex problem.
template <class T>
Solver<Spectrum<T>> by_real_form(const SpectrumProblem<T>& p) {
  const auto found = std::make_shared<HermitianToeplitzEig<T>>();
  const auto run = [&p, found](Graph* g) {
    *found = hermitian_toeplitz_eig<T>(*g, {p.t.data(), static_cast<std::size_t>(p.t.rows())},
                                       {.vectors = p.options.vectors});
  };
  return {[found] { *found = {}; },
          run,
          {},
          [&p, found] {
            Spectrum<T> s;
            s.values = found->values;
            const HostMatrix<T>& x = found->vectors;
            if (!p.options.vectors) return s;
            s.vectors.emplace(*p.runtime, x.rows(), x.cols(), TileShape{x.rows(), std::min<index_t>(x.cols(), 256)});
            s.vectors->copy_from(x.data(), x.ld());
            return s;
          }};
}

template <class T>
HostMatrix<T> half(const HostMatrix<T>& t, int part) {
  const index_t rows = cauchy_rows(t.rows(), part);
  HostMatrix<T> a(rows, rows);
  if (rows > 0) toeplitz_half(t.rows(), t.data(), part, a.data(), a.ld());
  return a;
}

template <class T>
HostMatrix<T> dense(const HostMatrix<T>& t) {
  HostMatrix<T> a(t.rows(), t.rows());
  for (index_t j = 0; j < a.cols(); ++j)
    for (index_t i = 0; i < a.rows(); ++i) a(i, j) = i >= j ? t(i - j, 0) : conj(t(j - i, 0));
  return a;
}

/// Returns the solver of a library for T, or for its two halves: load(part) sets a dense matrix, solve(part, w)
/// computes its eigenvalues.
template <class T, class Load, class Solve>
Solver<Spectrum<T>> by_library(const SpectrumProblem<T>& p, bool halves, const Load& load, const Solve& solve) {
  const auto w = std::make_shared<std::vector<real_t<T>>>(static_cast<std::size_t>(p.t.rows()));
  const auto prepare = [halves, load] {
    for (std::size_t part = 0; part < (halves ? 2 : 1); ++part) load(part);
  };
  const auto run = [&p, halves, solve, w](Graph*) {
    solve(0, w->data());
    if (halves) solve(1, w->data() + cauchy_rows(p.t.rows(), 0));
  };
  return {prepare, run, {}, [w] {
            Spectrum<T> s;
            s.values.assign(w->begin(), w->end());
            std::sort(s.values.begin(), s.values.end());
            return s;
          }};
}

template <class T>
Solver<Spectrum<T>> by_lapack(const SpectrumProblem<T>& p, bool halves) {
  const auto parts = std::make_shared<std::array<HostMatrix<T>, 2>>();
  const auto load = [&p, halves, parts](std::size_t part) {
    if constexpr (!is_complex<T>)
      if (halves) return static_cast<void>((*parts)[part] = half(p.t, static_cast<int>(part)));
    (*parts)[part] = dense(p.t);
  };
  return by_library(p, halves, load, [parts, vectors = p.options.vectors](std::size_t part, real_t<T>* w) {
    HostMatrix<T>& a = (*parts)[part];
    lapack::syevd(a.rows(), a.data(), a.ld(), w, vectors);
  });
}

template <class T>
Solver<Spectrum<T>> by_cusolver(const SpectrumProblem<T>& p, bool halves) {
  const auto parts = std::make_shared<std::vector<std::unique_ptr<CusolverEig<T>>>>();
  for (int part = 0; part < (halves ? 2 : 1); ++part)
    parts->push_back(
        std::make_unique<CusolverEig<T>>(halves ? cauchy_rows(p.t.rows(), part) : p.t.rows(), p.options.vectors));
  const auto load = [&p, halves, parts](std::size_t part) {
    if (halves)
      (*parts)[part]->upload(half(p.t, static_cast<int>(part)).data());
    else
      (*parts)[part]->fill_toeplitz(p.t.data());
  };
  return by_library(p, halves, load, [parts](std::size_t part, T* w) { (*parts)[part]->solve(w); });
}

/// Throws WrongResult for eigenvectors with errors beyond these bounds.
void require_vectors(double residual, double residual_bound, double overlap, double overlap_bound) {
  if (!(residual <= residual_bound) || !(overlap <= overlap_bound))
    throw bench::WrongResult(fmt::format(
        "bench toeplitz: eigenvectors with a residual of {:.2e} and overlaps of {:.2e}", residual, overlap));
}

/// Checks vectors from the middle of the spectrum, a few tiles of them.
template <class T>
void check_neighbours(const HostMatrix<T>& t, const Spectrum<T>& s) {
  const TileMatrix<T>& v = *s.vectors;
  const index_t nb = v.tile_shape().nb, tiles = std::min<index_t>(v.nt(), ceil_div(index_t{512}, nb)),
                from = (v.nt() - tiles) / 2;
  const TileMatrix<T> some = v.view(0, from, v.mt(), tiles);
  HostMatrix<T> x = some.to_host();
  const auto first = static_cast<std::size_t>(from * nb), count = static_cast<std::size_t>(some.n());
  if constexpr (is_complex<T>) {
    const HostMatrix<T> a = dense(t);
    const std::vector<double> values(s.values.begin() + static_cast<std::ptrdiff_t>(first),
                                     s.values.begin() + static_cast<std::ptrdiff_t>(first + count));
    const double norm = symmetric_norm(a, std::max(std::abs(s.values.front()), std::abs(s.values.back())));
    const EigError error = eig_error(a, values, x, norm, some.n(), 1);
    const EigBounds bounds = eig_bounds<T>(t.rows());
    return require_vectors(error.residual, bounds.value, error.orthogonality, bounds.orthogonality);
  } else {
    const double norm = toeplitz_norm_estimate(t.rows(), t.data(), s.values);
    const ToeplitzSpectrumError error =
        toeplitz_spectrum_error(t.rows(), t.data(), std::span<const double>(s.values).subspan(first, count),
                                std::span<const signed char>(s.symmetry).subspan(first, count), x.data(), norm);
    const double bound = 1e4 * static_cast<double>(std::numeric_limits<T>::epsilon());
    require_vectors(error.residual, bound, error.orthogonality, 1e3 * bound);
  }
}

/// Adds the rows for real numbers.
template <class T>
void add_real_rows(std::vector<Method<SpectrumProblem<T>, Spectrum<T>>>& rows) {
  using Place = typename Method<SpectrumProblem<T>, Spectrum<T>>::Place;
  for (const auto& method : spectrum_methods())
    rows.push_back({method.name, method.about, Place::graph,
                    [which = method.value](SpectrumProblem<T>& p) { return by_graph(p, which); }});
  for (const bool halves : {false, true})
    rows.push_back({halves ? "lapack-halves" : "lapack", "the library's syevd", Place::cores,
                    [halves](SpectrumProblem<T>& p) { return by_lapack(p, halves); }});
  for (const bool halves : {false, true})
    add_cusolver(rows, halves ? "cusolver-halves" : "cusolver", "the library's syevd on a GPU",
                 [halves](auto& p) { return by_cusolver(p, halves); });
}

}  // namespace

template <class T>
std::vector<Method<SpectrumProblem<T>, Spectrum<T>>> spectrum_table() {
  using Row = Method<SpectrumProblem<T>, Spectrum<T>>;
  using Place = typename Row::Place;
  std::vector<Row> rows;
  if constexpr (is_complex<T>) {
    rows.push_back({"auto", "a real matrix of the same order, as a dense one", Place::graph,
                    [](SpectrumProblem<T>& p) { return by_real_form(p); }});
    rows.push_back(
        {"lapack", "the library's heevd", Place::cores, [](SpectrumProblem<T>& p) { return by_lapack(p, false); }});
  } else {
    add_real_rows(rows);
  }
  return rows;
}

template <class T>
double check_peer(const std::string& peer, SpectrumProblem<T>& problem, const Spectrum<T>& found) {
  const HostMatrix<T>& t = problem.t;
  const std::vector<double>& values = found.values;
  const index_t n = t.rows();
  if (static_cast<index_t>(values.size()) != n)
    throw bench::WrongResult(fmt::format("bench toeplitz: {}: {} of {} eigenvalues", peer, values.size(), n));
  double trace = 0, squares = 0, sum = 0, sum_squares = 0, largest = 0, error = 0;
  for (index_t k = 0; k < n; ++k) {
    const with_parts<T, double> v(t(k, 0));
    trace += k == 0 ? static_cast<double>(n) * real_part(v) : 0;
    squares += (k == 0 ? 1 : 2) * static_cast<double>(n - k) * std::norm(v);
  }
  for (const double value : values) {
    if (!std::isfinite(value)) throw bench::WrongResult(fmt::format("bench toeplitz: {}: {}", peer, value));
    sum += value;
    sum_squares += value * value;
    largest = std::max(largest, std::abs(value));
  }
  if (problem.agreed.empty()) problem.agreed = values;
  for (std::size_t i = 0; i < values.size(); ++i)
    error = std::max(error, std::abs(values[i] - problem.agreed[i]) / largest);
  const double count = static_cast<double>(n);
  error = std::max({error, std::abs(sum - trace) / (count * largest), std::abs(sum_squares - squares) / squares});
  const double bound = 1e4 * static_cast<double>(std::numeric_limits<real_t<T>>::epsilon());
  if (!(error <= bound)) throw bench::WrongResult(fmt::format("bench toeplitz: {}: error {:.2e}", peer, error));
  if (found.vectors) check_neighbours(t, found);
  return error / bound;
}

TESELA_FUNCTIONS_FOR_NUMBERS(spectrum_table, check_peer)

}  // namespace tesela::cli
