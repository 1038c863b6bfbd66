#include <tesela/algorithms/econometrics/internal/equation_tasks.hpp>
#include <tesela/codelets/dense/gemm.hpp>
#include <tesela/codelets/econometrics/equation_givens.hpp>
#include <tesela/codelets/econometrics/equation_gram.hpp>
#include <tesela/codelets/econometrics/equation_qr.hpp>
#include <tesela/runtime/ranks.hpp>
#include <tesela/tiles/parallel_zeros.hpp>

#include <algorithm>
#include <map>

namespace tesela::detail {

using namespace kernels;
namespace {

constexpr double largest_condition = 1e4;  // limit for products; the error is about (condition eps)^2

TileMatrix<double> whole(Runtime& runtime, const HostMatrix<double>& a, const char* name) {
  return TileMatrix<double>::map(runtime, a.data(), a.rows(), a.cols(), a.ld(), {a.rows(), a.cols()}, name);
}

TileMatrix<int> whole(Runtime& runtime, const HostMatrix<int>& a) {
  return TileMatrix<int>::map(runtime, a.data(), 2, a.cols(), 2, {2, a.cols()}, "picks");
}

/// Results and residuals of equations in two blocks of host memory, each page-locked as a whole.
class Room {
 public:
  Room(Runtime& runtime, AllEquationResults& all, index_t regressors, index_t coordinates, index_t equations)
      : runtime_(runtime),
        facts_(all.memory.emplace_back(regressors + 1, 4 * equations)),
        residuals_(all.memory.emplace_back(coordinates, equations)),
        locked_facts_(runtime, facts_.data(), static_cast<std::size_t>(facts_.size()) * sizeof(double)),
        locked_residuals_(runtime, residuals_.data(), static_cast<std::size_t>(residuals_.size()) * sizeof(double)) {}

  /// Returns tiles for the next `count` equations.
  std::pair<Tile<double>, Tile<double>> add(index_t regressors, index_t coordinates, index_t count) {
    const auto map = [&](HostMatrix<double>& all, index_t rows, index_t first, index_t columns, const char* name) {
      tiles_.push_back(
          TileMatrix<double>::map(runtime_, &all(0, first), rows, columns, all.ld(), {rows, columns}, name));
      return tiles_.back()(0, 0);
    };
    const std::pair both{map(facts_, regressors + 1, 4 * equations_, 4 * count, "facts"),
                         map(residuals_, coordinates, equations_, count, "residual")};
    equations_ += count;
    return both;
  }
  void bring_home() { tiles_.clear(); }
  /// Returns the results of equation `at`, whose space has `room` regressors.
  EquationResults found(index_t at, index_t room, const PickedEquation& e) {
    double* const own = &facts_(0, 4 * at);
    for (index_t k = 0; k < 4; ++k) own[e.size() + k * facts_.ld()] = own[room + k * facts_.ld()];
    return {{own, e.size() + 1, 4, facts_.ld()}, {&residuals_(0, at), e.variables->A.rows(), 1, residuals_.ld()}};
  }

 private:
  Runtime& runtime_;
  HostMatrix<double>&facts_, &residuals_;
  PinnedMemory locked_facts_, locked_residuals_;
  std::vector<TileMatrix<double>> tiles_;
  index_t equations_ = 0;
};

/// Inserts a task for each group and copies its valid results. Returns the equations whose results are not valid.
template <class Insert, class Good>
std::vector<std::size_t> run_groups(Graph& g, const std::vector<PickedEquation>& equations,
                                    const std::vector<std::size_t>& which, AllEquationResults& all,
                                    const Insert& insert, const Good& good) {
  const auto groups = equation_groups(g.runtime(), equations, which);
  const index_t coordinates = equations[which.front()].variables->A.rows();
  Room room(g.runtime(), all, equations[groups.front().front()].size(), coordinates, std::ssize(which));
  std::vector<HostMatrix<int>> picks;
  std::vector<TileMatrix<int>> picked;
  for (const auto& group : groups) {
    const index_t r = equations[group.front()].size();
    picks.push_back(group_picks(equations, group));
    picked.push_back(whole(g.runtime(), picks.back()));
    const auto [facts, residual] = room.add(r, coordinates, std::ssize(group));
    insert(group, r, picked.back()(0, 0), facts, residual);
  }
  g.wait();
  room.bring_home();
  std::vector<std::size_t> left;
  index_t at = 0;
  for (const auto& group : groups)
    for (const std::size_t i : group) {
      const EquationResults own = room.found(at++, equations[group.front()].size(), equations[i]);
      if (good(own.facts(own.facts.rows - 1, 0)))
        all.of[i] = own;
      else
        left.push_back(i);
    }
  return left;
}

/// Returns the products of the first rows of all variables, in one tile.
TileMatrix<double> products_of(Graph& g, const Variables& model, HostMatrix<double>& home) {
  Runtime& runtime = g.runtime();
  const index_t M = model.count();
  if (runtime.gpus() > 0) {  // the products stay on the GPU
    const auto first =
        TileMatrix<double>::map(runtime, model.A.data(), model.rows, M, model.A.ld(), {model.rows, M}, "R1");
    TileMatrix<double> products(runtime, M, M, {M, M}, "products");
    g.insert<Gemm<double, Out>>(on_gpu, {.op_a = Op::transpose}, first(0, 0), first(0, 0), products(0, 0));
    return products;
  }
  const Block<const double> first{model.A.data(), model.rows, M, model.A.ld()};
  home = parallel_zeros<double>(M, M);
  multiply(g, Op::transpose, Op::none, first, first, home);
  return whole(runtime, home, "products");
}

/// Computes results from products. Returns the equations that need another method.
std::vector<std::size_t> run_grams(Graph& g, const Variables& model, const std::vector<PickedEquation>& equations,
                                   const std::vector<std::size_t>& which, AllEquationResults& all) {
  Runtime& runtime = g.runtime();
  HostMatrix<double> home;
  const auto A = whole(runtime, model.A, "R"), products = products_of(g, model, home);
  const auto insert = [&](const std::vector<std::size_t>& group, index_t r, const Tile<int>& picks,
                          const Tile<double>& facts, const Tile<double>& residual) {
    const index_t count = std::ssize(group);
    const Shape work = equation_gram_work(r, count, runtime.gpus() > 0);
    g.insert<EquationGram>(on_gpu, {count}, A(0, 0), products(0, 0), picks, facts, residual,
                           g.scratch<double>(work.rows, work.cols));
  };
  return run_groups(g, equations, which, all, insert, [](double condition) { return condition <= largest_condition; });
}

void run_rotations(Graph& g, const Variables& model, const std::vector<PickedEquation>& equations,
                   const std::vector<std::size_t>& which, AllEquationResults& all) {
  const auto A = whole(g.runtime(), model.A, "R");
  const auto insert = [&](const std::vector<std::size_t>& group, index_t r, const Tile<int>& picks,
                          const Tile<double>& facts, const Tile<double>& residual) {
    const index_t count = std::ssize(group);
    double work = 0;
    for (const std::size_t i : group)
      work += staircase_rotation_flops(equations[i].picks.data() + 1, equations[i].size(), 2);
    const Shape space = equation_givens_work(model.rows, r, count, g.runtime().gpus() > 0);
    g.insert<EquationGivens>(on_gpu, {count, model.rows, work}, A(0, 0), picks, facts, residual,
                             g.scratch<double>(space.rows, space.cols));
  };
  run_groups(g, equations, which, all, insert, [](double) { return true; });
}

/// Computes results by Householder QR, one task per equation.
void run_separately(Graph& g, const std::vector<PickedEquation>& equations, const std::vector<std::size_t>& which,
                    AllEquationResults& all) {
  Runtime& runtime = g.runtime();
  index_t most = 0, coordinates = 0;
  for (const std::size_t i : which) {
    most = std::max(most, equations[i].size());
    coordinates = std::max(coordinates, equations[i].variables->A.rows());
  }
  Room room(runtime, all, most, coordinates, std::ssize(which));
  // With few tasks, the scheduler would spend them on learning run times on cores.
  const bool few = std::ssize(which) < 4 * least_workers(runtime);
  std::map<const Variables*, TileMatrix<double>> inputs;
  std::vector<TileMatrix<int>> picks;
  for (const std::size_t i : which) {
    const PickedEquation& e = equations[i];
    const HostMatrix<double>& A = e.variables->A;
    const index_t r = e.size(), rows = e.variables->rows;
    const auto input = inputs.try_emplace(e.variables, whole(runtime, A, "R")).first;
    const auto [facts, residual] = room.add(r, A.rows(), 1);
    picks.push_back(whole(runtime, e.picks));
    const int* const heights = e.picks.data() + 1;
    const Shape work = equation_work(rows, r, runtime.gpus() > 0);
    const double flops = staircase_flops(heights, r + 1, 2);
    g.insert<EquationQr>(few && flops > 1e8 ? on_gpu : Priority{}, {rows, equation_panels(heights, r, 2, rows), flops},
                         input->second(0, 0), picks.back()(0, 0), facts, residual,
                         g.scratch<double>(work.rows, work.cols));
  }
  g.wait();
  room.bring_home();
  index_t at = 0;
  for (const std::size_t i : which) all.of[i] = room.found(at++, equations[i].size(), equations[i]);
}

}  // namespace

AllEquationResults run_equations(Graph& g, const Variables& model, const std::vector<PickedEquation>& equations,
                                 SemEngine engine) {
  AllEquationResults all;
  all.of.resize(equations.size());
  std::vector<std::size_t> alone, together;
  index_t largest = 0;
  for (const PickedEquation& e : equations) largest = std::max(largest, e.variables == &model ? e.size() : 0);
  const bool batched = engine == SemEngine::batched || (engine == SemEngine::automatic && largest >= 48);
  const bool reuse = engine == SemEngine::reuse, rotations = engine == SemEngine::givens;
  for (std::size_t i = 0; i < equations.size(); ++i) {
    const PickedEquation& e = equations[i];
    if (e.size() <= e.variables->rows)
      ((batched || rotations || reuse) && e.variables == &model ? together : alone).push_back(i);
  }
  if (reuse && !together.empty()) run_reuse(g, model, equations, together, all);
  if (rotations && !together.empty()) run_rotations(g, model, equations, together, all);
  if (batched && !together.empty()) {
    const auto left = run_grams(g, model, equations, together, all);
    alone.insert(alone.end(), left.begin(), left.end());
  }
  if (!alone.empty()) run_separately(g, equations, alone, all);
  return all;
}

}  // namespace tesela::detail
