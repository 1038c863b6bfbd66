#include <tesela/algorithms/econometrics/internal/reuse_plan.hpp>
#include <tesela/runtime/require.hpp>

#include <algorithm>
#include <limits>
#include <set>

namespace tesela {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Returns a cycle among the nodes' parents, or an empty vector.
std::vector<index_t> cycle_of(const std::vector<index_t>& parents) {
  std::vector<index_t> seen(parents.size(), -1);
  for (index_t start = 0; start < static_cast<index_t>(parents.size()); ++start) {
    index_t v = start;
    while (v >= 0 && seen[at(v)] < 0) seen[at(v)] = start, v = parents[at(v)];
    if (v < 0 || seen[at(v)] != start) continue;
    std::vector<index_t> cycle{v};
    for (index_t u = parents[at(v)]; u != v; u = parents[at(u)]) cycle.push_back(u);
    return cycle;
  }
  return {};
}

std::vector<index_t> tree_of(const HostMatrix<double>& costs) {
  const index_t n = costs.rows();
  std::vector<index_t> parents(at(n), -1);
  for (index_t j = 1; j < n; ++j)
    for (index_t i = 0; i < n; ++i)
      if (i != j && (parents[at(j)] < 0 || costs(i, j) < costs(parents[at(j)], j))) parents[at(j)] = i;
  const std::vector<index_t> cycle = cycle_of(parents);
  if (cycle.empty()) return parents;
  // Contract the cycle into one node, the last.
  std::vector<bool> inside(at(n), false);
  for (const index_t v : cycle) inside[at(v)] = true;
  std::vector<index_t> left;
  for (index_t v = 0; v < n; ++v)
    if (!inside[at(v)]) left.push_back(v);
  const auto m = static_cast<index_t>(left.size());
  HostMatrix<double> smaller(m + 1, m + 1);
  std::vector<index_t> entry(at(m), -1), exit(at(m), -1);
  for (index_t a = 0; a < m; ++a) {
    const index_t u = left[at(a)];
    for (index_t b = 0; b < m; ++b) smaller(a, b) = costs(u, left[at(b)]);
    smaller(a, m) = smaller(m, a) = infinity;
    for (const index_t v : cycle) {
      const double enters = costs(u, v) - costs(parents[at(v)], v);
      if (entry[at(a)] < 0 || enters < smaller(a, m)) smaller(a, m) = enters, entry[at(a)] = v;
      if (exit[at(a)] < 0 || costs(v, u) < smaller(m, a)) smaller(m, a) = costs(v, u), exit[at(a)] = v;
    }
  }
  smaller(m, m) = infinity;
  const std::vector<index_t> found = tree_of(smaller);
  for (index_t a = 0; a < m; ++a)
    parents[at(left[at(a)])] = found[at(a)] < 0 ? -1 : found[at(a)] == m ? exit[at(a)] : left[at(found[at(a)])];
  const index_t from = found[at(m)];
  parents[at(entry[at(from)])] = left[at(from)];
  return parents;
}

using detail::ReuseStep;

/// Returns the operations of the step's rotations on its columns and `more` others.
double work(ReuseStep& s, double more) {
  s.rotations = 0;
  double sum = 0;
  const auto r = static_cast<index_t>(s.columns.size());
  for (index_t p = 0; p < r; ++p) {
    const index_t own = std::max<index_t>(s.ends[at(p)] - p - 1, 0);
    s.rotations += own;
    sum += 6 * static_cast<double>(own) * static_cast<double>(r - p);
  }
  return sum + 6 * static_cast<double>(s.rotations) * more;
}

void add(ReuseStep& s, index_t column, index_t end) { s.columns.push_back(column), s.ends.push_back(end); }

ReuseStep from_data(const Equation& e, const std::vector<index_t>& ends) {
  ReuseStep s;
  std::vector<index_t> columns = e.regressors;
  std::sort(columns.begin(), columns.end());
  for (const index_t c : columns) add(s, c, ends[at(c)]);
  return s;
}

/// Returns the step of a child: the parent's columns first, in its order, then the other columns, which the parent's
/// rotations have filled.
ReuseStep from_parent(const Equation& e, const ReuseStep& parent, index_t rows) {
  const std::set<index_t> wanted(e.regressors.begin(), e.regressors.end());
  std::set<index_t> common;
  ReuseStep s;
  for (std::size_t p = 0; p < parent.columns.size(); ++p)
    if (wanted.contains(parent.columns[p])) {
      add(s, parent.columns[p], static_cast<index_t>(p) + 1);
      common.insert(parent.columns[p]);
    }
  for (const index_t c : wanted)
    if (!common.contains(c)) add(s, c, rows);
  return s;
}

/// Returns the operations of a child of `parent` with the r `wanted` columns and a dependent variable.
double cost_of_child(const ReuseStep& parent, const std::vector<char>& wanted, index_t r, index_t rows) {
  double sum = 0;
  index_t place = 0, rotations = 0;
  const auto add_column = [&](index_t end) {
    const index_t own = std::max<index_t>(end - place - 1, 0);
    rotations += own;
    sum += 6 * static_cast<double>(own) * static_cast<double>(r - place++);
  };
  for (std::size_t p = 0; p < parent.columns.size(); ++p)
    if (wanted[at(parent.columns[p])] != 0) add_column(static_cast<index_t>(p) + 1);
  const auto fresh = static_cast<double>(r - place);
  while (place < r) add_column(rows);
  return sum + 6 * static_cast<double>(rotations) + 6 * static_cast<double>(parent.rotations) * (fresh + 1);
}

/// Returns the end of each column of the model.
std::vector<index_t> ends_of(const SimultaneousModel& model) {
  index_t most = 0;
  for (const Equation& e : model.equations)
    for (const index_t c : e.regressors) most = std::max(most, c + 1);
  std::vector<index_t> ends;
  for (index_t c = 0; c < most; ++c) ends.push_back(std::min(c + 1, model.instruments));
  return ends;
}

}  // namespace

std::vector<index_t> minimum_cost_tree(const HostMatrix<double>& costs) {
  require(costs.rows() == costs.cols(), "minimum_cost_tree", "costs", costs.shape(), " is not square");
  return costs.rows() == 0 ? std::vector<index_t>{} : tree_of(costs);
}

ReuseTree reuse_tree(const SimultaneousModel& model) {
  return detail::reuse_tree(model, ends_of(model), model.instruments);
}

namespace detail {

std::vector<ReuseStep> reuse_steps(const SimultaneousModel& model, const std::vector<index_t>& ends, index_t rows,
                                   const std::vector<index_t>& parents) {
  const auto N = static_cast<index_t>(model.equations.size());
  std::vector<std::vector<index_t>> children(at(N));
  std::vector<index_t> order, next;
  for (index_t i = N - 1; i >= 0; --i)
    parents[at(i)] < 0 ? next.push_back(i) : children[at(parents[at(i)])].push_back(i);
  while (!next.empty()) {  // depth first, so that a triangle is freed as early as possible
    order.push_back(next.back());
    next.pop_back();
    next.insert(next.end(), children[at(order.back())].begin(), children[at(order.back())].end());
  }
  std::vector<std::set<index_t>> carried(at(N));
  std::vector<ReuseStep> of(at(N));
  for (auto i = order.rbegin(); i != order.rend(); ++i) {
    of[at(*i)].right.push_back(*i);
    for (const index_t child : children[at(*i)]) {
      carried[at(*i)].insert(carried[at(child)].begin(), carried[at(child)].end());
      const auto& columns = model.equations[at(child)].regressors;
      carried[at(*i)].insert(columns.begin(), columns.end());
      of[at(*i)].right.insert(of[at(*i)].right.end(), of[at(child)].right.begin(), of[at(child)].right.end());
    }
    for (const index_t c : model.equations[at(*i)].regressors) carried[at(*i)].erase(c);
  }
  std::vector<ReuseStep> steps;
  for (const index_t i : order) {
    const Equation& e = model.equations[at(i)];
    const index_t parent = parents[at(i)];
    ReuseStep s = parent < 0 ? from_data(e, ends) : from_parent(e, of[at(parent)], rows);
    s.equation = i;
    s.parent = parent;
    s.carried.assign(carried[at(i)].begin(), carried[at(i)].end());
    s.right = of[at(i)].right;
    s.flops = work(s, static_cast<double>(s.carried.size() + s.right.size()));
    of[at(i)] = s;
    steps.push_back(std::move(s));
  }
  return steps;
}

ReuseTree reuse_tree(const SimultaneousModel& model, const std::vector<index_t>& ends, index_t rows) {
  const auto N = static_cast<index_t>(model.equations.size());
  const auto flops = [&](const std::vector<index_t>& parents) {
    double sum = 0;
    for (const ReuseStep& s : reuse_steps(model, ends, rows, parents)) sum += s.flops;
    return sum;
  };
  std::vector<ReuseStep> alone;
  HostMatrix<double> costs(N + 1, N + 1);
  std::fill_n(costs.data(), costs.size(), infinity);
  for (index_t i = 0; i < N; ++i) {
    alone.push_back(from_data(model.equations[at(i)], ends));
    costs(0, i + 1) = work(alone.back(), 1);
  }
  for (index_t j = 0; j < N; ++j) {
    std::vector<char> wanted(ends.size(), 0);
    for (const index_t c : alone[at(j)].columns) wanted[at(c)] = 1;
    for (index_t i = 0; i < N; ++i)
      if (i != j) costs(i + 1, j + 1) = cost_of_child(alone[at(i)], wanted, std::ssize(alone[at(j)].columns), rows);
  }
  const std::vector<index_t> none(at(N), -1);
  ReuseTree tree{none, flops(none), 0};
  std::vector<index_t> parents = minimum_cost_tree(costs);
  parents.erase(parents.begin());
  for (index_t& parent : parents) --parent;
  tree.flops_reused = flops(parents);
  if (tree.flops_reused < tree.flops_alone)
    tree.parents = std::move(parents);
  else
    tree.flops_reused = tree.flops_alone;
  return tree;
}

}  // namespace detail
}  // namespace tesela
