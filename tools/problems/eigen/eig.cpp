#include "tools/problems/eigen/eig.hpp"

#include "tools/app/choices.hpp"
#include "tools/app/numbers.hpp"
#include "tools/peers/cusolver_eig.hpp"
#include "tools/peers/device.hpp"
#include "tools/problems/support/symmetric_input.hpp"
#include <tesela/algorithms/eigen/eigen_matrices.hpp>
#include <tesela/algorithms/eigen/generalized_eig.hpp>
#include <tesela/algorithms/support/memory_plan.hpp>
#include <tesela/codelets/support/fill.hpp>
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/runtime/config.hpp>
#include <tesela/runtime/require.hpp>
#include <tesela/tiles/filled.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tesela::cli {

template <class T>
GeneralizedKind EigProblem<T>::kind() const {
  return *find_named(generalized_kinds(), input.kind);
}

template <class T>
void EigProblem<T>::load(bool dense) {
  const auto full = [&](const SymmetricMatrix& matrix, real_t<T> scale) {
    return filled<T>({n(), n()}, [&](index_t i, index_t j) { return scale * matrix.element<T>(i, j); });
  };
  if (!input.b.empty())
    b = read_symmetric<T>({"eig", "--b", input.b, "B", input.uplo, input.symmetrize}, notes);
  else if (input.generalized())  // with A's seed both would have the same eigenvectors
    b = full(generated("eig", "--random-b", input.random_b, n(), seed + 1), 1);
  if (!input.a.empty() && !input.bands_in_a) {
    a = read_symmetric<T>({"eig", input.a_name, input.a, "A", input.uplo, input.symmetrize}, notes);
    return;
  }
  if constexpr (!is_complex<T>) {
    if (input.tridiagonal()) {
      if (input.bands_in_a) {
        SymmetricBands<T> bands = read_tridiagonal<T>(input.a).value();
        d = std::move(bands.d), e = std::move(bands.e);
      } else {
        d = read_vector<T>("eig", "--diagonal", input.diagonal);
        e = read_vector<T>("eig", "--off-diagonal", input.off_diagonal);
      }
      require(e.size() == static_cast<std::size_t>(std::max<index_t>(n() - 1, 0)), "eig", "--off-diagonal",
              fmt::format("{} elements, but the diagonal has {}", e.size(), n()));
      if (!dense) return;
      a = HostMatrix<T>::zeros(n(), n());
      for (index_t i = 0; i < n(); ++i) {
        a(i, i) = d[static_cast<std::size_t>(i)];
        if (i > 0) a(i, i - 1) = a(i - 1, i) = e[static_cast<std::size_t>(i - 1)];
      }
      return;
    }
  }
  const SymmetricMatrix matrix = generated("eig", "--random", input.random, n(), seed);
  const auto scale = in_precision<real_t<T>>("eig", "--scale", input.scale);
  if constexpr (!is_complex<T>)
    if (resident && n() > whole && !input.generalized()) generator = matrix.generator<T>();
  if (!generator) a = full(matrix, scale);
  for (index_t j = 0; j < a.cols(); ++j)
    for (index_t i = j; i < n(); ++i)
      if (!is_finite(a(i, j))) throw ArgumentError("eig", "--scale", fmt::format("A({}, {}) overflows", i + 1, j + 1));
  if (input.generalized() || !matrix.eigenvalues()) return;
  eigenvalues = matrix.eigenvalues();
  for (double& value : *eigenvalues) value *= static_cast<double>(scale);
  if (scale < 0) std::reverse(eigenvalues->begin(), eigenvalues->end());
}

template <class T>
void EigProblem<T>::pin() {
  if (generator) return;
  work = HostMatrix<T>(n(), n());
  if (input.generalized()) work_b = HostMatrix<T>(n(), n());
  if (resident) return;
  if (options.vectors) x = HostMatrix<T>(n(), wanted());
  for (HostMatrix<T>* memory : {&work, &work_b, &x})
    if (memory->size() > 0)
      pinned.emplace_back(*runtime, memory->data(), static_cast<std::size_t>(memory->size()) * sizeof(T));
}

template <class T>
void EigProblem<T>::restore(bench::RestoredMatrix<T>& tiles, const HostMatrix<T>& original, HostMatrix<T>& copy,
                            TileShape tile) {
  const Shape shape{n(), n()};
  const auto where = [](index_t j) { return on_gpu_number(static_cast<std::size_t>(j)); };
  if (!resident) {
    bench::RestoredMatrix<T>::release(copy.data());
    if (copy.size() == 0) copy = HostMatrix<T>(n(), n());
    copy_elements(original, copy);
    tiles.on_host(*runtime, copy.data(), shape, tile);
  } else if (!generator) {
    tiles.on_devices(
        *runtime, shape, tile, [&](Graph&, const TileMatrix<T>& first) { first.copy_from(original.data(), n()); },
        [&](index_t, index_t j) { return where(j); });
  } else {  // again, since the devices may have no memory for two
    tiles.empty(*runtime, shape, tile);
    Graph g(*runtime);
    tiles->for_each_tile([&](const Tile<T>& one, index_t row, index_t column) {
      g.insert<kernels::Fill<T>>(where(column / tile.nb), {*generator, row, column}, one);
    });
    g.wait();
  }
}

template <class T>
double EigProblem<T>::largest_row_sum() const {
  double largest = 0;
  for (index_t j = 0; j < a.cols(); ++j) {
    double sum = 0;
    for (index_t i = 0; i < a.rows(); ++i) sum += std::abs(with_parts<T, double>(a(i, j)));
    largest = std::max(largest, sum);
  }
  return largest;
}

double eig_flops(index_t n, bool vectors, index_t found) {
  const auto order = static_cast<double>(n);
  return 4.0 / 3 * order * order * order + (vectors ? (4.0 / 3 + 2) * order * order * static_cast<double>(found) : 0);
}

namespace {

/// Solves by symmetric_eig, generalized_eig or eig_iteration.
template <class T>
Solver<EigFound<T>> by_graph(EigProblem<T>& p, const std::string& name) {
  struct State {
    bench::RestoredMatrix<T> A, B;
    EigFound<T> found;
  };
  const auto state = std::make_shared<State>();
  const auto iteration = find_named(eig_iterations(), name);
  SymmetricEigOptions options = p.options;
  options.method = find_named(eig_methods(), name).value_or(EigMethod::automatic);
  const bool tridiagonal = p.input.tridiagonal() && options.method != EigMethod::lapack, pair = p.input.generalized();
  const auto prepare = [&p, state, options, tridiagonal, pair] {
    state->found = {};  // before A needs room
    if (tridiagonal) return;
    const WorkerCounts workers = workers_for<T>(*p.runtime);
    const TileShape tile = pair ? generalized_eig_tile(workers, p.n()) : eig_tile(workers, p.n(), options);
    p.restore(state->A, p.a, p.work, tile);
    if (pair) p.restore(state->B, p.b, p.work_b, tile);
  };
  const auto run = [&p, state, iteration, options, tridiagonal, pair](Graph* g) {
    SymmetricEig<T>& eig = state->found.eig;
    if constexpr (is_complex<T>) {
      eig =
          pair ? generalized_eig(*g, *state->A, *state->B, {p.kind(), options}) : symmetric_eig(*g, *state->A, options);
    } else {
      const auto iterate = [&](const auto&... matrix) {
        EigIterationResult<T> result = eig_iteration<T>(*g, matrix..., p.iteration.options(*iteration, options));
        state->found.facts = result;
        return static_cast<SymmetricEig<T>>(std::move(result));
      };
      const std::span<const T> d(p.d), e(p.e);
      if (tridiagonal)
        eig = iteration ? iterate(d, e) : symmetric_eig(*g, d, e, options);
      else if (pair)
        eig = generalized_eig(*g, *state->A, *state->B, {p.kind(), options});
      else
        eig = iteration ? iterate(*state->A) : symmetric_eig(*g, *state->A, options);
    }
  };
  const auto finish = [&p, state] {
    SymmetricEig<T>& eig = state->found.eig;
    if (p.x.size() == 0 || !eig.status.ok()) return;
    eig.vectors->copy_to(p.x.data(), p.x.ld());
    eig.vectors.reset();
  };
  const auto result = [&p, state] {
    EigFound<T> found = std::move(state->found);
    std::optional<TileMatrix<T>> X = std::exchange(found.eig.vectors, std::nullopt);
    if (X && p.generator) {
      found.X = std::move(X);
    } else if (X) {
      found.vectors = HostMatrix<T>(p.n(), X->n());
      if (found.eig.status.ok()) X->copy_to(found.vectors.data(), found.vectors.ld());
    } else if (p.x.size() > 0) {
      found.vectors = p.x.clone();
    }
    return found;
  };
  return {prepare, run, finish, result};
}

/// Selects from a library's result: eigenvalues of 2^-exponent A and, if given, vectors in n rows, n x the last column.
template <class T>
EigFound<T> selected(const EigProblem<T>& p, const std::vector<real_t<T>>& values, int exponent, const T* vectors) {
  EigFound<T> found;
  std::vector<double>& all = found.eig.spectrum;
  for (const real_t<T> value : values) all.push_back(std::ldexp(static_cast<double>(value), exponent));
  if (!all.empty()) found.eig.norm = std::max(std::abs(all.front()), std::abs(all.back()));
  const auto below = [&](double limit) {
    return static_cast<index_t>(std::lower_bound(all.begin(), all.end(), limit) - all.begin());
  };
  const SymmetricEigOptions& o = p.options;
  IndexRange range = o.positions.value_or(IndexRange{0, std::ssize(all)});
  range.begin = std::max(range.begin, below(o.low));
  range.end = std::max(range.begin, std::min(range.end, std::isinf(o.high) ? std::ssize(all) : below(o.high)));
  found.eig.first = range.begin;
  found.eig.values.assign(all.begin() + range.begin, all.begin() + range.end);
  if (vectors == nullptr) return found;
  const index_t n = p.n();
  found.vectors = HostMatrix<T>(n, range.size());
  for (index_t j = 0; n > 0 && j < range.size(); ++j) {
    const T* const x = vectors + (range.begin + j) * n;
    if constexpr (is_complex<T>) {
      std::copy_n(x, n, &found.vectors(0, j));
      continue;
    } else {
      const T largest = *std::max_element(x, x + n, [](T u, T v) { return std::abs(u) < std::abs(v); });
      std::transform(x, x + n, &found.vectors(0, j), [&](T v) { return largest < 0 ? -v : v; });
    }
  }
  return found;
}

/// Solves by LAPACK's syevd or sygvd on all cores.
template <class T>
Solver<EigFound<T>> by_lapack(EigProblem<T>& p) {
  const auto values = std::make_shared<std::vector<real_t<T>>>(static_cast<std::size_t>(p.n()));
  const auto prepare = [&p] {
    bench::RestoredMatrix<T>::release(p.work.data());
    copy_elements(p.a, p.work);
    copy_elements(p.b, p.work_b);
  };
  const auto run = [&p, values](Graph*) {
    const index_t n = p.n();
    if constexpr (!is_complex<T>)
      if (p.input.generalized()) {
        lapack::sygvd<T>(1, n, p.work.data(), n, p.work_b.data(), n, values->data(), p.options.vectors);
        return;
      }
    lapack::syevd<T>(n, p.work.data(), n, values->data(), p.options.vectors);
  };
  const auto result = [&p, values] { return selected(p, *values, 0, p.options.vectors ? p.work.data() : nullptr); };
  return {prepare, run, {}, result};
}

/// Solves by cuSOLVER's syevd on device 0, or for the smallest eigenvalues by syevdx, of A times a power of two.
template <class T>
Solver<EigFound<T>> by_cusolver(EigProblem<T>& p, bool part) {
  struct State {
    State(index_t n, bool vectors, index_t smallest)
        : device(n, vectors, smallest), values(static_cast<std::size_t>(n)) {}
    CusolverEig<T> device;
    std::vector<real_t<T>> values;
    SymmetricEigStatus status = {};
    int exponent = 0;
  };
  const index_t n = p.n();
  const auto state = std::make_shared<State>(n, p.options.vectors, part ? p.wanted() : 0);
  for (index_t j = 0; j < p.a.cols(); ++j)
    for (index_t i = j; i < n; ++i)
      if (!is_finite(p.a(i, j)) && state->status.ok()) state->status = {SymmetricEigStatus::Verdict::not_finite, i, j};
  state->exponent = lower_exponent(p.a);
  if (p.work.size() == 0) p.work = HostMatrix<T>(p.a.rows(), p.a.cols());
  const auto prepare = [&p, state] {
    if constexpr (!is_complex<T>)
      if (p.generator) return bench::generate(state->device.a(), p.n(), p.n(), *p.generator);
    bench::RestoredMatrix<T>::release(p.work.data());
    for (index_t j = 0; j < p.a.cols(); ++j)
      for (index_t i = j; i < p.a.rows(); ++i) {
        p.work(i, j) = times_power_of_two(p.a(i, j), -state->exponent);
        p.work(j, i) = conj(p.work(i, j));
      }
    if (p.resident) state->device.upload(p.work.data());
  };
  const auto run = [&p, state](Graph*) {
    if (!state->status.ok() || p.n() == 0) return;
    if (!p.resident) state->device.upload(p.work.data());
    state->device.solve(state->values.data());
    HostMatrix<T>& home = p.x.size() > 0 ? p.x : p.work;
    if (p.options.vectors && !p.resident) state->device.download(home.data(), home.cols());
  };
  const auto result = [&p, state, part] {
    if (!state->status.ok()) {
      EigFound<T> none;
      none.eig.status = state->status;
      return none;
    }
    if (part) state->values.resize(static_cast<std::size_t>(p.wanted()));
    HostMatrix<T>& home = p.x.size() > 0 ? p.x : p.work;
    const bool here = p.options.vectors && !p.generator;
    if (here && p.resident) state->device.download(home.data(), p.wanted());
    EigFound<T> found = selected(p, state->values, state->exponent, here ? home.data() : nullptr);
    if (p.options.vectors && p.generator)
      found.X = TileMatrix<T>::map_device(*p.runtime, state->device.a(), p.n(), p.wanted(), p.n(),
                                          {p.n(), std::min<index_t>(p.n(), 32768)}, 0, "X");
    return found;
  };
  return {prepare, run, {}, result};
}

/// Solves a generalized problem of kind 1 by cuSOLVER's sygvd on device 0.
template <class T>
Solver<EigFound<T>> by_cusolver_pair(EigProblem<T>& p) {
  const auto device = std::make_shared<CusolverGeneralizedEig<T>>(p.n(), p.options.vectors);
  const auto values = std::make_shared<std::vector<T>>(static_cast<std::size_t>(p.n()));
  const auto prepare = [&p, device] {
    if (p.resident) return device->upload(p.a.data(), p.b.data());
    copy_elements(p.a, p.work);
    copy_elements(p.b, p.work_b);
  };
  const auto run = [&p, device, values](Graph*) {
    if (!p.resident) device->upload(p.work.data(), p.work_b.data());
    device->solve(values->data());
    if (!p.resident && p.options.vectors) device->download(p.x.data());
  };
  const auto result = [&p, device, values] {
    if (p.options.vectors) device->download(p.work.data());
    return selected(p, *values, 0, p.options.vectors ? p.work.data() : nullptr);
  };
  return {prepare, run, {}, result};
}

}  // namespace

template <class T>
std::vector<Method<EigProblem<T>, EigFound<T>>> eig_table(EigRows which) {
  using Row = Method<EigProblem<T>, EigFound<T>>;
  using Place = typename Row::Place;
  std::vector<Row> rows;
  const auto add = [&](const auto& methods) {
    for (const auto& method : methods)
      rows.push_back({method.name, method.about, Place::graph,
                      [name = std::string(method.name)](EigProblem<T>& p) { return by_graph(p, name); }});
  };
  add(eig_methods());
  if constexpr (!is_complex<T>) {
    const auto on_gpu = [](bool part) {
      return [part](auto& p) { return p.input.generalized() ? by_cusolver_pair(p) : by_cusolver(p, part); };
    };
    add_cusolver(rows, "cusolver", "the library's syevd on a GPU, transfers timed", on_gpu(false));
    add(eig_iterations());
    if (which == EigRows::command) return rows;
    add_cusolver(rows, "cusolver-x", "its syevdx for a part", on_gpu(true));
  } else {
    if (which == EigRows::command) return rows;
    add_cusolver(rows, "cusolver", "the library's heevd on a GPU, transfers timed",
                 [](auto& p) { return by_cusolver(p, false); });
  }
  Row& lapack = *std::find_if(rows.begin(), rows.end(), [](const Row& row) { return row.name == "lapack"; });
  lapack.place = Place::cores;
  lapack.solver = by_lapack<T>;
  return rows;
}

TESELA_FUNCTIONS_FOR_REALS(eig_table)
TESELA_STRUCTS_FOR_REALS(EigProblem)
#define TESELA_INSTANTIATE(T)                             \
  template double EigProblem<T>::largest_row_sum() const; \
  template GeneralizedKind EigProblem<T>::kind() const;   \
  template void EigProblem<T>::load(bool);                \
  template void EigProblem<T>::pin();                     \
  template std::vector<Method<EigProblem<T>, EigFound<T>>> eig_table(EigRows);
TESELA_FOR_COMPLEX(TESELA_INSTANTIATE)

}  // namespace tesela::cli
