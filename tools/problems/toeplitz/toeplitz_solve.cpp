#include "tools/problems/toeplitz/toeplitz_solve.hpp"

#include "tools/peers/cusolver_factor.hpp"
#include <tesela/algorithms/toeplitz/cauchy_factorization.hpp>
#include <tesela/algorithms/toeplitz/cauchy_inverse.hpp>
#include <tesela/algorithms/toeplitz/gohberg_semencul.hpp>
#include <tesela/algorithms/toeplitz/lookahead.hpp>
#include <tesela/algorithms/toeplitz/toeplitz_gradients.hpp>
#include <tesela/algorithms/toeplitz/toeplitz_superfast.hpp>
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/runtime/config.hpp>
#include <tesela/runtime/machine/topology.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <unistd.h>

namespace tesela::cli {

ToeplitzMemory::ToeplitzMemory() {
  constexpr double usable = 0.9;
  const Machine machine = describe_machine();
  host = usable * static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  device = machine.gpus.empty() ? 0 : usable * static_cast<double>(machine.gpus.front().memory_bytes);
}

void ToeplitzMemory::take(bool on_device, double bytes) {
  double& left = on_device ? device : host;
  if (bytes > left)
    throw EnvironmentError(fmt::format("it needs {:.1f} GB of {} memory, {:.1f} are free after the peers before it",
                                       bytes * 1e-9, on_device ? "device" : "host", left * 1e-9));
  left -= bytes;
}

template <class T>
struct DenseToeplitz {
  HostMatrix<T> shifted, row, on_host;                   // t - sigma e_1, first row, T - sigma I
  std::shared_ptr<CusolverFactor<real_t<T>>> on_device;  // shared: its end needs CUDA; for real numbers
  bool host_taken = false, device_taken = false;
};

namespace {

constexpr const char* again = "-again";

/// B and X of a graph, in one tile that is page-locked with a GPU and up to date on the host before and after a run.
template <class T>
struct State {
  explicit State(const ToeplitzSystem<T>& p)
      : x(std::make_shared<HostMatrix<T>>(p.b.rows(), p.b.cols())),
        X(TileMatrix<T>::map(*p.runtime, x->data(), x->rows(), x->cols(), x->ld(),
                             {std::max<index_t>(x->rows(), 1), std::max<index_t>(x->cols(), 1)}, "X")) {}
  std::shared_ptr<HostMatrix<T>> x;
  TileMatrix<T> X;
  std::string failure;
  ToeplitzSolution solved;
};

/// Returns the solver whose run is solve(graph, state).
template <class T, class Solve>
Solver<ToeplitzAnswer<T>> by_graph(const ToeplitzSystem<T>& p, const Solve& solve) {
  const auto state = std::make_shared<State<T>>(p);
  return {[&p, state] { state->X.copy_from(p.b.data(), p.b.ld()); },
          [state, solve](Graph* g) {
            if (state->x->size() > 0) solve(*g, *state);
          },
          [state] { state->X.bring_home(); },
          [state] {
            return ToeplitzAnswer<T>{state->x, state->failure, state->solved};
          }};
}

template <class T>
double factor_bytes(const ToeplitzSystem<T>& p) {
  return static_cast<double>(p.t.rows()) * static_cast<double>(p.t.rows()) / 2 * static_cast<double>(sizeof(T));
}

template <class T>
Solver<ToeplitzAnswer<T>> from_t(ToeplitzSystem<T>& p, ToeplitzMethod method) {
  if (method == ToeplitzMethod::cauchy && p.memory) p.memory->take(p.runtime->gpus() > 0, factor_bytes(p));
  if (method == ToeplitzMethod::superfast && p.memory) p.memory->take(false, superfast_bytes<real_t<T>>(p.t.rows()));
  if (method == ToeplitzMethod::dense && p.memory) p.memory->take(false, 2 * factor_bytes(p) * 8 / sizeof(real_t<T>));
  return by_graph(p, [&p, method](Graph& g, State<T>& state) {
    const ToeplitzSolveOptions options{method, p.verdict.value_or(method == ToeplitzMethod::automatic)};
    if constexpr (is_complex<T>)
      state.solved = toeplitz_solve(g, p.t, p.row, p.sigma, state.X, options);
    else
      state.solved = p.row.size() > 0 ? toeplitz_solve(g, p.t, p.row, p.sigma, state.X, options)
                                      : toeplitz_solve(g, Toeplitz<T>(g, p.t), p.sigma, state.X, options);
    state.failure = state.solved.failure;
  });
}

template <class T, class Inverse>
Inverse inverse_of(Graph& g, const ToeplitzSystem<T>& p) {
  if constexpr (std::is_same_v<Inverse, ToeplitzLookahead<T>>) {
    HostMatrix<T> c = p.t.clone();
    c(0, 0) -= p.sigma;
    return Inverse(g, c, p.row.size() > 0 ? p.row : p.t);
  } else {
    return Inverse(g, Toeplitz<T>(g, p.t), p.sigma);
  }
}

/// A further solve: only B is new.
template <class T, class Inverse>
Solver<ToeplitzAnswer<T>> from_inverse(ToeplitzSystem<T>& p) {
  if constexpr (!is_complex<T>) {
    if (std::is_same_v<Inverse, CauchyFactorization<T>> && p.memory)
      p.memory->take(p.runtime->gpus() > 0, factor_bytes(p));
    if (std::is_same_v<Inverse, ToeplitzSuperfast<T>> && p.memory)
      p.memory->take(false, superfast_bytes<T>(p.t.rows()));
  }
  if (p.b.size() == 0) return by_graph(p, [](Graph&, State<T>&) {});
  const index_t k = p.b.cols();
  const TileMatrix<double> outcome(*p.runtime, k, 4, {k, 4}, "outcome");
  Graph first(*p.runtime);
  const auto inverse = inverse_of<T, Inverse>(first, p);
  static_cast<void>(first.wait());  // solves report a failure
  return by_graph(p, [inverse, outcome](Graph& g, State<T>& state) {
    inverse.solve(g, state.X, outcome);
    const Status status = g.wait();
    state.failure = status.ok()                  ? ""
                    : status.info <= inverse.n() ? fmt::format("breakdown at order {}", status.info)
                                                 : "refinement did not reach rounding level";
  });
}

/// Returns the solver that factors the dense matrix: fill(dense, X) is not timed, solve(dense, X) returns LAPACK's
/// info.
template <class T, class Fill, class Solve>
Solver<ToeplitzAnswer<T>> by_dense(ToeplitzSystem<T>& p, bool on_device, bool cholesky, const Fill& fill,
                                   const Solve& solve) {
  if (!p.dense) {
    p.dense = std::make_shared<DenseToeplitz<T>>();
    p.dense->shifted = p.t.clone();
    p.dense->row = (p.row.size() > 0 ? p.row : p.t).clone();
    if (p.t.rows() > 0) p.dense->row(0, 0) = p.dense->shifted(0, 0) -= p.sigma;
  }
  bool& taken = on_device ? p.dense->device_taken : p.dense->host_taken;
  if (!taken && p.memory) p.memory->take(on_device, 2 * factor_bytes(p));
  taken = true;
  const auto x = std::make_shared<HostMatrix<T>>(p.b.clone());
  const auto info = std::make_shared<int>(0);
  return {[&p, x, fill] {
            std::copy_n(p.b.data(), p.b.size(), x->data());
            fill(*p.dense, *x);
          },
          [&p, x, solve, info](Graph*) { *info = solve(*p.dense, *x); },
          {},
          [x, info, cholesky] {
            return ToeplitzAnswer<T>{x,
                                     *info == 0 ? ""
                                     : cholesky
                                         ? fmt::format("not positive definite: the leading minor of order {}", *info)
                                         : fmt::format("singular: pivot {} is zero", *info),
                                     {}};
          }};
}

template <class T>
Solver<ToeplitzAnswer<T>> by_lapack(ToeplitzSystem<T>& p, bool cholesky) {
  const auto fill = [](DenseToeplitz<T>& dense, const HostMatrix<T>&) {
    const HostMatrix<T>& t = dense.shifted;
    const index_t n = t.rows();
    HostMatrix<T>& a = dense.on_host;
    if (a.rows() != n) a = HostMatrix<T>(n, n);
    for (index_t j = 0; j < n; ++j) {
      std::reverse_copy(dense.row.data(), dense.row.data() + j + 1, &a(0, j));
      std::copy(t.data(), t.data() + (n - j), &a(j, j));
    }
  };
  return by_dense(p, false, cholesky, fill, [cholesky](DenseToeplitz<T>& dense, HostMatrix<T>& x) {
    HostMatrix<T>& a = dense.on_host;
    return cholesky ? lapack::posv(a.rows(), x.cols(), a.data(), a.ld(), x.data(), x.ld())
                    : lapack::gesv(a.rows(), x.cols(), a.data(), a.ld(), x.data(), x.ld());
  });
}

template <class T>
Solver<ToeplitzAnswer<T>> by_cusolver(ToeplitzSystem<T>& p, bool cholesky) {
  using By = typename CusolverFactor<T>::By;
  const By by = cholesky ? By::cholesky_lower : By::lu;
  const auto fill = [by](DenseToeplitz<T>& dense, const HostMatrix<T>& x) {
    if (!dense.on_device)
      dense.on_device = std::make_shared<CusolverFactor<T>>(x.rows(), by, false, x.cols());
    else
      dense.on_device->choose(by);
    dense.on_device->fill_toeplitz(dense.shifted.data());
  };
  return by_dense(p, true, cholesky, fill,
                  [](DenseToeplitz<T>& dense, HostMatrix<T>& x) { return dense.on_device->solve(x.data()); });
}

}  // namespace

template <class T>
std::vector<Method<ToeplitzSystem<T>, ToeplitzAnswer<T>>> toeplitz_solve_table() {
  using Row = Method<ToeplitzSystem<T>, ToeplitzAnswer<T>>;
  using Place = typename Row::Place;
  std::vector<Row> rows;
  const auto add_again = [&](const std::string& name, const auto& solver) {
    rows.push_back({name + again, name + " with the inverse or the factors at hand", Place::graph, solver});
  };
  for (const auto& method : toeplitz_methods()) {
    const bool hermitian = method.value == ToeplitzMethod::gohberg_semencul || method.value == ToeplitzMethod::schur;
    if (is_complex<T> && !hermitian && !solves_nonsymmetric(method.name)) continue;
    rows.push_back({method.name, method.about, Place::graph,
                    [which = method.value](ToeplitzSystem<T>& p) { return from_t(p, which); }});
    if (method.value == ToeplitzMethod::lookahead) add_again(method.name, from_inverse<T, ToeplitzLookahead<T>>);
    if constexpr (!is_complex<T>) {
      if (method.value == ToeplitzMethod::gohberg_semencul) add_again(method.name, from_inverse<T, GohbergSemencul<T>>);
      if (method.value == ToeplitzMethod::cauchy_inverse) add_again(method.name, from_inverse<T, CauchyInverse<T>>);
      if (method.value == ToeplitzMethod::cauchy) add_again(method.name, from_inverse<T, CauchyFactorization<T>>);
      if (method.value == ToeplitzMethod::gradients) add_again(method.name, from_inverse<T, ToeplitzGradients<T>>);
      if (method.value == ToeplitzMethod::superfast) add_again(method.name, from_inverse<T, ToeplitzSuperfast<T>>);
    }
  }
  for (const bool cholesky : {true, false})
    rows.push_back({cholesky ? "lapack-cholesky" : "lapack-lu",
                    cholesky ? "the library's posv of the dense matrix" : "the library's gesv of the dense matrix",
                    Place::cores, [cholesky](ToeplitzSystem<T>& p) { return by_lapack(p, cholesky); }});
  if constexpr (!is_complex<T>)
    for (const bool cholesky : {true, false})
      add_cusolver(rows, cholesky ? "cusolver-cholesky" : "cusolver-lu",
                   cholesky ? "the library's potrf on a GPU" : "the library's getrf on a GPU",
                   [cholesky](auto& p) { return by_cusolver(p, cholesky); });
  return rows;
}

bool solves_nonsymmetric(const std::string& method) {
  constexpr std::array able{"auto", "lookahead", "lookahead-again", "dense", "lapack-lu"};
  return std::find(able.begin(), able.end(), method) != able.end();
}

double dense_solve_flops(const std::string& method, index_t n, index_t k, bool complex) {
  const auto order = static_cast<double>(n);
  return (complex ? flops_each<std::complex<double>> : 1) * order * order *
         ((method.ends_with("cholesky") ? 1 : 2) * order / 3 + 2 * static_cast<double>(k));
}

TESELA_FUNCTIONS_FOR_NUMBERS(toeplitz_solve_table)

}  // namespace tesela::cli
