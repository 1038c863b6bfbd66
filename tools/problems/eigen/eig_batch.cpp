#include "tools/problems/eigen/eig_batch.hpp"

#include "tools/app/numbers.hpp"
#include "tools/peers/cusolver_eig.hpp"
#include "tools/peers/restored.hpp"
#include "tools/problems/support/symmetric_input.hpp"
#include <tesela/algorithms/eigen/eigen_matrices.hpp>
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/runtime/config.hpp>
#include <tesela/tiles/io/file_formats.hpp>
#include <tesela/tiles/parallel_for.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace tesela::cli {

template <class T>
void EigBatchProblem<T>::load() {
  const PausedWorkers paused;
  if (!input.a.empty()) {
    a = read_symmetric<T>({"eig", "--a", input.a, "A", input.uplo, input.symmetrize}, notes);
  } else {
    const SymmetricChoice kind = parse_symmetric_kind(input.random);
    std::vector<double> given;
    if (!kind.file.empty()) {
      const HostMatrix<double> file = read_matrix<double>(kind.file);
      given.assign(file.data(), file.data() + file.size());
    }
    const auto matrix = [&](index_t k) {
      return SymmetricMatrix(kind.kind, n(), kind.parameter, seed + static_cast<std::uint64_t>(k), given);
    };
    matrix(0);  // throws for a wrong --random even if the batch is empty
    const auto scale = in_precision<real_t<T>>("eig", "--scale", input.scale);
    a = HostMatrix<T>(n(), n() * count);
    parallel_for(count, 16, [&](index_t first, index_t end) {
      for (index_t k = first; k < end; ++k) {
        const SymmetricMatrix one = matrix(k);
        for (index_t j = 0; j < n(); ++j)
          for (index_t i = 0; i < n(); ++i) a(i, k * n() + j) = scale * one.element<T>(i, j);
      }
    });
  }
  if (resident) return;
  work = HostMatrix<T>(n(), n() * count);
  values = HostMatrix<real_t<T>>(n(), count);
}

template <class T>
void EigBatchProblem<T>::pin() {
  if (resident) return;
  const auto keep = [&]<class Element>(HostMatrix<Element>& memory) {
    pinned.emplace_back(*runtime, memory.data(), static_cast<std::size_t>(memory.size()) * sizeof(Element));
  };
  keep(work);
  keep(values);
}

template <class T>
void EigBatchProblem<T>::restore() {
  bench::RestoredMatrix<T>::release(work.data());
  bench::RestoredMatrix<real_t<T>>::release(values.data());
  std::copy_n(a.data(), a.size(), work.data());
}

namespace {

/// Returns copies of the results in the problem's memory.
template <class T>
EigBatchFound<T> copied(const EigBatchProblem<T>& p) {
  return {{}, p.values.clone(), p.work.clone()};
}

template <class T>
Solver<EigBatchFound<T>> by_graph(EigBatchProblem<T>& p) {
  struct State {
    bench::RestoredMatrix<T> A;
    bench::RestoredMatrix<real_t<T>> W;
    EigBatchResult result;
  };
  const auto state = std::make_shared<State>();
  const auto prepare = [&p, state] {
    const index_t n = p.n(), rows = std::max<index_t>(n, 1), kb = eig_batch_size<T>(*p.runtime, n);
    const Shape of_a{n, n * p.count}, of_w{n, p.count};
    const TileShape tile_a{rows, rows * kb}, tile_w{rows, kb};
    if (!p.resident) {
      p.restore();
      state->A.on_host(*p.runtime, p.work.data(), of_a, tile_a);
      state->W.on_host(*p.runtime, p.values.data(), of_w, tile_w);
      return;
    }
    state->A.on_devices(
        *p.runtime, of_a, tile_a,
        [&](Graph&, const TileMatrix<T>& original) { original.copy_from(p.a.data(), p.a.ld()); },
        [](index_t, index_t t) { return on_gpu_number(static_cast<std::size_t>(t)); });
    state->W.empty(*p.runtime, of_w, tile_w);
  };
  const auto run = [&p, state](Graph* g) { state->result = eig_batch(*g, *state->A, *state->W, {p.vectors}); };
  const auto finish = [&p, state] {
    if (p.resident) return;
    if (p.vectors) state->A->bring_home();
    state->W->bring_home();
  };
  const auto result = [&p, state] {
    EigBatchFound<T> found{state->result, HostMatrix<real_t<T>>(p.n(), p.count), HostMatrix<T>(p.n(), p.n() * p.count)};
    state->W->copy_to(found.values.data(), found.values.ld());
    if (p.vectors) state->A->copy_to(found.vectors.data(), found.vectors.ld());
    return found;
  };
  return {prepare, run, finish, result};
}

template <class T>
Solver<EigBatchFound<T>> by_lapack(EigBatchProblem<T>& p) {
  const auto run = [&p](Graph*) {
    const blas::Threads alone(1);
    const index_t n = p.n();
    parallel_for(p.count, 16, [&](index_t first, index_t end) {
      for (index_t k = first; k < end; ++k)
        lapack::syevd<T>(n, p.work.data() + k * n * n, n, p.values.data() + k * n, p.vectors);
    });
  };
  return {[&p] { p.restore(); }, run, {}, [&p] { return copied(p); }};
}

template <class T>
Solver<EigBatchFound<T>> by_cusolver(EigBatchProblem<T>& p) {
  const auto device = std::make_shared<CusolverEigBatch<T>>(p.n(), p.count, p.vectors);
  const auto prepare = [&p, device] { p.resident ? device->upload(p.a.data()) : p.restore(); };
  const auto run = [&p, device](Graph*) {
    if (!p.resident) device->upload(p.work.data());
    device->solve();
    if (p.resident) return;
    device->values(p.values.data());
    if (p.vectors) device->vectors(p.work.data());
  };
  const auto result = [&p, device] {
    EigBatchFound<T> found{{}, HostMatrix<real_t<T>>(p.n(), p.count), HostMatrix<T>(p.n(), p.n() * p.count)};
    device->values(found.values.data());
    device->vectors(found.vectors.data());
    return found;
  };
  return {prepare, run, {}, result};
}

}  // namespace

template <class T>
std::vector<Method<EigBatchProblem<T>, EigBatchFound<T>>> eig_batch_table() {
  using Row = Method<EigBatchProblem<T>, EigBatchFound<T>>;
  using Place = typename Row::Place;
  std::vector<Row> rows{{"tesela", "eig_batch", Place::graph, by_graph<T>},
                        {"lapack", "syevd, matrix by matrix, on all cores", Place::cores, by_lapack<T>}};
  if constexpr (!is_complex<T>)
    add_cusolver(rows, "cusolver", "XsyevBatched on a GPU", [](auto& p) { return by_cusolver(p); });
  return rows;
}

template <class T>
double check_peer(const std::string& peer, const EigBatchProblem<T>& p, const EigBatchFound<T>& f) {
  constexpr index_t measured = 256;
  if (!f.result.ok()) throw bench::WrongResult(peer + ": " + to_string(f.result.failures.front()));
  const PausedWorkers paused;
  const EigBounds bounds = eig_bounds<T>(p.n());
  const EigBatchError e = eig_batch_error(p.a, f.values, p.vectors ? &f.vectors : nullptr, true, measured, 1);
  double worst = 0;
  for (const double part : {e.value / bounds.value, e.residual / bounds.value, e.orthogonality / bounds.orthogonality})
    worst = part <= worst ? worst : part;  // NaN stays
  if (!(worst <= 1))
    throw bench::WrongResult(
        fmt::format("{}: {} x {}: an error is {:.3g} times its bound", peer, p.count, p.n(), worst));
  return worst;
}

TESELA_FUNCTIONS_FOR_NUMBERS(eig_batch_table)
TESELA_STRUCTS_FOR_NUMBERS(EigBatchProblem)
TESELA_FUNCTIONS_FOR_REALS(check_peer)

}  // namespace tesela::cli
