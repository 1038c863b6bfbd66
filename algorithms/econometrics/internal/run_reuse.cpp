#include <tesela/algorithms/econometrics/internal/equation_tasks.hpp>
#include <tesela/algorithms/econometrics/internal/reuse_plan.hpp>
#include <tesela/codelets/econometrics/equation_reuse.hpp>

#include <algorithm>
#include <deque>
#include <map>
#include <optional>

namespace tesela::detail {

using namespace kernels;
namespace {

template <class T>
TileMatrix<T> whole(Runtime& runtime, const HostMatrix<T>& a, const char* name) {
  return TileMatrix<T>::map(runtime, a.data(), a.rows(), a.cols(), a.ld(), {a.rows(), a.cols()}, name);
}

/// Places of a step's columns in its triangle; other steps start from it.
struct Held {
  std::optional<TileMatrix<double>> w;
  std::map<index_t, int> columns;  // place of each of the model's variables
  std::map<index_t, int> right;    // place of each equation's dependent variable
  index_t waiting = 0;             // number of equations that have not started from it yet
};

/// Returns the plan of a step, which fills `to` from the data or from its parent's triangle.
HostMatrix<int> plan_of(const ReuseStep& s, const Held* parent, const SimultaneousModel& model,
                        const std::vector<index_t>& ends, index_t rows, Held& to) {
  const index_t r = std::ssize(s.columns), width = r + std::ssize(s.carried) + std::ssize(s.right);
  HostMatrix<int> plan(2, width);
  int k = 0;
  const auto add = [&](index_t from, index_t height) {
    plan(0, k) = static_cast<int>(from), plan(1, k) = static_cast<int>(height);
    return k++;
  };
  const auto column = [&](index_t c) { return parent == nullptr ? c : parent->columns.at(c); };
  for (std::size_t p = 0; p < s.columns.size(); ++p) to.columns[s.columns[p]] = add(column(s.columns[p]), s.ends[p]);
  for (const index_t c : s.carried) to.columns[c] = add(column(c), parent == nullptr ? ends[at(c)] : rows);
  for (const index_t e : s.right) {
    const index_t y = model.equations[at(e)].dependent;
    to.right[e] = parent == nullptr ? add(y, ends[at(y)]) : add(parent->right.at(e), rows);
  }
  return plan;
}

}  // namespace

void run_reuse(Graph& g, const Variables& model, const std::vector<PickedEquation>& equations,
               const std::vector<std::size_t>& which, AllEquationResults& all) {
  Runtime& runtime = g.runtime();
  const index_t rows = model.rows;
  SimultaneousModel shared;
  for (const std::size_t i : which) shared.equations.push_back({equations[i].dependent, equations[i].regressors, {}});
  std::vector<index_t> ends;
  for (const int height : model.heights) ends.push_back(std::min<index_t>(height, rows));
  const auto steps = reuse_steps(shared, ends, rows, reuse_tree(shared, ends, rows).parents);
  std::vector<Held> held(which.size());
  for (const ReuseStep& s : steps)
    if (s.parent >= 0) ++held[at(s.parent)].waiting;
  const auto A = whole(runtime, model.A, "R");
  std::deque<HostMatrix<int>> plans;
  std::vector<TileMatrix<int>> planned;
  std::vector<TileMatrix<double>> results;
  const auto numbers = [&](HostMatrix<int> a, const char* name) {
    plans.push_back(std::move(a));
    planned.push_back(whole(runtime, plans.back(), name));
    return planned.back()(0, 0);
  };
  const auto result = [&](index_t m, index_t n, const char* name) {
    results.push_back(whole(runtime, all.memory.emplace_back(m, n), name));
    return results.back()(0, 0);
  };
  for (const ReuseStep& s : steps) {
    const std::size_t i = which[at(s.equation)];
    const PickedEquation& e = equations[i];
    Held &own = held[at(s.equation)], *const parent = s.parent < 0 ? nullptr : &held[at(s.parent)];
    const Tile<int> plan = numbers(plan_of(s, parent, shared, ends, rows, own), "plan");
    HostMatrix<int> order(1, std::max<index_t>(e.size(), 1));
    for (index_t p = 0; p < e.size(); ++p) order(0, p) = own.columns.at(e.order[at(p)]);
    own.w.emplace(runtime, rows, plan.cols(), TileShape{rows, plan.cols()}, "W");
    const Tile<int> picks = numbers(e.picks.clone(), "picks");
    const Tile<double> facts = result(e.size() + 1, 4, "facts"), residual = result(model.A.rows(), 1, "residual");
    const HostMatrix<double>&f = all.memory[all.memory.size() - 2], &u = all.memory.back();
    all.of[i] = {{f.data(), f.rows(), 4, f.ld()}, {u.data(), u.rows(), 1, u.ld()}};
    const Shape space = equation_reuse_work(rows, e.size(), runtime.gpus() > 0);
    g.insert<EquationReuse>(
        {own.right.at(s.equation), s.flops}, A(0, 0), parent == nullptr ? A(0, 0) : (*parent->w)(0, 0), picks, plan,
        numbers(std::move(order), "order"), (*own.w)(0, 0), facts, residual, g.scratch<double>(space.rows, space.cols));
    // Free the memory after the last task that reads it.
    if (parent != nullptr && --parent->waiting == 0) parent->w.reset();
    if (own.waiting == 0) own.w.reset();
  }
  g.wait();
}

}  // namespace tesela::detail
