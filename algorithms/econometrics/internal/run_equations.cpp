#include <tesela/algorithms/econometrics/internal/equation_tasks.hpp>
#include <tesela/codelets/econometrics/equation_givens.hpp>
#include <tesela/codelets/econometrics/equation_gram.hpp>
#include <tesela/codelets/econometrics/equation_qr.hpp>

#include <algorithm>
#include <map>

namespace tesela::detail {

using namespace kernels;
namespace {

constexpr double largest_condition = 1e4;  // that products may have: the error is as (condition eps)^2 then

TileMatrix<double> whole(Runtime& runtime, const HostMatrix<double>& a, const char* name) {
  return TileMatrix<double>::map(runtime, a.data(), a.rows(), a.cols(), a.ld(), {a.rows(), a.cols()}, name);
}

TileMatrix<int> whole(Runtime& runtime, const HostMatrix<int>& a) {
  return TileMatrix<int>::map(runtime, a.data(), 2, a.cols(), 2, {2, a.cols()}, "picks");
}

HostMatrix<double> columns(const HostMatrix<double>& a, index_t first, index_t count, index_t rows) {
  HostMatrix<double> part(rows, count);
  for (index_t j = 0; j < count; ++j) std::copy_n(&a(0, first + j), rows, &part(0, j));
  return part;
}

/// Equations that are one task.
struct Group {
  std::vector<std::size_t> which;
  index_t r = 0;  ///< of the largest
  HostMatrix<int> picks = {};
  EquationFacts found = {};

  void place(const std::vector<PickedEquation>& equations, index_t coordinates) {
    const auto count = static_cast<index_t>(which.size());
    picks = group_picks(equations, which);
    found = {HostMatrix<double>::zeros(r + 1, 4 * count), HostMatrix<double>::zeros(coordinates, count)};
  }

  EquationFacts facts_of(const PickedEquation& e, index_t i) const {
    EquationFacts own{columns(found.facts, 4 * i, 4, e.size() + 1),
                      columns(found.residual, i, 1, found.residual.rows())};
    for (index_t k = 0; k < 4; ++k) own.facts(e.size(), k) = found.facts(r, 4 * i + k);
    return own;
  }
};

std::vector<Group> groups_of(const Runtime& runtime, const std::vector<PickedEquation>& equations,
                             const std::vector<std::size_t>& which) {
  std::vector<Group> groups;
  for (std::vector<std::size_t>& some : equation_groups(runtime, equations, which)) {
    const index_t r = equations[some.front()].size();
    groups.push_back({std::move(some), r});
  }
  return groups;
}

/// Inserts a task for each group, takes what they find where it is of use, and answers the equations where it is not.
template <class Insert, class Good>
std::vector<std::size_t> run_groups(Graph& g, const std::vector<PickedEquation>& equations,
                                    const std::vector<std::size_t>& which, std::vector<EquationFacts>& all,
                                    const Insert& insert, const Good& good) {
  std::vector<Group> groups = groups_of(g.runtime(), equations, which);
  std::vector<TileMatrix<int>> picks;
  std::vector<TileMatrix<double>> results;
  for (Group& group : groups) {
    group.place(equations, equations[group.which.front()].variables->A.rows());
    picks.push_back(whole(g.runtime(), group.picks));
    results.push_back(whole(g.runtime(), group.found.facts, "facts"));
    results.push_back(whole(g.runtime(), group.found.residual, "residual"));
    insert(group, picks.back()(0, 0), results[results.size() - 2](0, 0), results.back()(0, 0));
  }
  g.wait();
  for (const auto& matrix : results) matrix.bring_home();
  std::vector<std::size_t> left;
  for (const Group& group : groups)
    for (std::size_t k = 0; k < group.which.size(); ++k) {
      const std::size_t i = group.which[k];
      if (good(group.found.facts(group.r, static_cast<index_t>(4 * k))))
        all[i] = group.facts_of(equations[i], static_cast<index_t>(k));
      else
        left.push_back(i);
    }
  return left;
}

/// The facts of these equations from products. Answers those that need more.
std::vector<std::size_t> run_grams(Graph& g, const Variables& model, const std::vector<PickedEquation>& equations,
                                   const std::vector<std::size_t>& which, std::vector<EquationFacts>& all) {
  Runtime& runtime = g.runtime();
  const index_t M = model.count();
  HostMatrix<double> first(model.rows, M);
  for (index_t c = 0; c < M; ++c) std::copy_n(&model.A(0, c), model.rows, &first(0, c));
  const HostMatrix<double> products = product(g, Op::transpose, Op::none, first, first);
  const auto gram = whole(runtime, products, "products"), A = whole(runtime, model.A, "R");
  const auto insert = [&](const Group& group, const Tile<int>& picks, const Tile<double>& facts,
                          const Tile<double>& residual) {
    const auto count = static_cast<index_t>(group.which.size());
    const Shape work = equation_gram_work(group.r, count, runtime.gpus() > 0);
    g.insert<EquationGram>({count}, A(0, 0), gram(0, 0), picks, facts, residual,
                           g.scratch<double>(work.rows, work.cols));
  };
  return run_groups(g, equations, which, all, insert, [](double condition) { return condition <= largest_condition; });
}

void run_rotations(Graph& g, const Variables& model, const std::vector<PickedEquation>& equations,
                   const std::vector<std::size_t>& which, std::vector<EquationFacts>& all) {
  const auto A = whole(g.runtime(), model.A, "R");
  const auto insert = [&](const Group& group, const Tile<int>& picks, const Tile<double>& facts,
                          const Tile<double>& residual) {
    const auto count = static_cast<index_t>(group.which.size());
    double work = 0;
    for (const std::size_t i : group.which)
      work += staircase_rotation_flops(equations[i].picks.data() + 1, equations[i].size(), 2);
    const Shape space = equation_givens_work(model.rows, group.r, count, g.runtime().gpus() > 0);
    g.insert<EquationGivens>({count, model.rows, work}, A(0, 0), picks, facts, residual,
                             g.scratch<double>(space.rows, space.cols));
  };
  run_groups(g, equations, which, all, insert, [](double) { return true; });
}

}  // namespace

std::vector<EquationFacts> run_equations(Graph& g, const Variables& model, const std::vector<PickedEquation>& equations,
                                         SemEngine engine) {
  Runtime& runtime = g.runtime();
  std::vector<EquationFacts> all(equations.size());
  std::vector<std::size_t> by_qr, together;
  index_t largest = 0;
  for (const PickedEquation& e : equations) largest = std::max(largest, e.variables == &model ? e.size() : 0);
  const bool batched = engine == SemEngine::batched || (engine == SemEngine::automatic && largest >= 48);
  const bool rotations = engine == SemEngine::givens;
  for (std::size_t i = 0; i < equations.size(); ++i) {
    const PickedEquation& e = equations[i];
    if (e.size() <= e.variables->rows)
      ((batched || rotations) && e.variables == &model ? together : by_qr).push_back(i);
  }
  if (rotations && !together.empty()) run_rotations(g, model, equations, together, all);
  if (batched && !together.empty()) {
    const auto left = run_grams(g, model, equations, together, all);
    by_qr.insert(by_qr.end(), left.begin(), left.end());
  }
  std::map<const Variables*, TileMatrix<double>> inputs;
  std::vector<TileMatrix<double>> results;
  std::vector<TileMatrix<int>> picks;
  for (const std::size_t i : by_qr) {
    const PickedEquation& e = equations[i];
    const HostMatrix<double>& A = e.variables->A;
    const index_t r = e.size(), rows = e.variables->rows;
    const auto input = inputs.try_emplace(e.variables, whole(runtime, A, "R")).first;
    all[i] = {HostMatrix<double>::zeros(r + 1, 4), HostMatrix<double>::zeros(A.rows(), 1)};
    picks.push_back(whole(runtime, e.picks));
    results.push_back(whole(runtime, all[i].facts, "facts"));
    results.push_back(whole(runtime, all[i].residual, "residual"));
    const int* const heights = e.picks.data() + 1;
    const Shape work = equation_work(rows, r, runtime.gpus() > 0);
    g.insert<EquationQr>({rows, equation_panels(heights, r, 2, rows), staircase_flops(heights, r + 1, 2)},
                         input->second(0, 0), picks.back()(0, 0), results[results.size() - 2](0, 0),
                         results.back()(0, 0), g.scratch<double>(work.rows, work.cols));
  }
  g.wait();
  for (const auto& matrix : results) matrix.bring_home();
  return all;
}

}  // namespace tesela::detail
