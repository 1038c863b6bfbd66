#include <tesela/algorithms/dense/gemm.hpp>
#include <tesela/algorithms/econometrics/internal/system_tasks.hpp>
#include <tesela/codelets/econometrics/basis_times.hpp>
#include <tesela/codelets/econometrics/equation_bases.hpp>
#include <tesela/codelets/econometrics/equation_qr.hpp>
#include <tesela/tiles/parallel_zeros.hpp>

#include <algorithm>
#include <map>

namespace tesela::detail {

using namespace kernels;
namespace {

constexpr double largest_condition = 1e4;  // limit for equations whose bases are computed from products

/// Returns the number of equations per group: every worker has some groups, and no more, because each group is a task
/// or two of every product.
index_t equations_at_once(const Runtime& runtime, std::size_t equations) {
  const index_t workers = runtime.gpus() > 0 ? 2 * runtime.gpus() : std::max(runtime.cpus(), 1);
  return std::max<index_t>(ceil_div(static_cast<index_t>(equations), 2 * workers), 1);
}

/// Returns Q_i, of an equation with its own instruments, in the model's coordinates.
HostMatrix<double> in_model_basis(Graph& g, const OwnBasis& own, const TileMatrix<double>& Q) {
  const index_t m = own.copy.rows();
  auto result = HostMatrix<double>::zeros(m, Q.n());
  Q.copy_to(result.data(), result.ld());
  const TileShape tile = own.factors->factors().tile_shape();
  const auto C = TileMatrix<double>::map(g.runtime(), result.data(), m, Q.n(), result.ld(), tile, "Q");
  own.factors->apply(g, Side::left, Op::none, C);
  g.wait();
  C.bring_home();
  return result;
}

TileMatrix<double> whole(Runtime& runtime, const HostMatrix<double>& a) {
  return TileMatrix<double>::map(runtime, a.data(), a.rows(), a.cols(), a.ld(), {a.rows(), a.cols()}, "R");
}

TileMatrix<double> columns(Runtime& runtime, index_t rows, index_t count, index_t at_once, const char* name) {
  return {runtime, rows, count, {std::max<index_t>(rows, 1), at_once}, name};
}

}  // namespace

EquationBases::EquationBases(Graph& g, const Variables& model, const std::vector<PickedEquation>& equations,
                             const std::vector<const OwnBasis*>& own, const std::vector<double>& conditions,
                             bool together)
    : W_(columns(g.runtime(),
                 std::all_of(own.begin(), own.end(), [](const OwnBasis* basis) { return basis == nullptr; })
                     ? model.rows
                     : model.A.rows(),
                 static_cast<index_t>(equations.size()), equations_at_once(g.runtime(), equations.size()), "W")),
      V_(columns(g.runtime(), W_.m(), W_.n(), W_.tile_shape().nb, "V")) {
  Runtime& runtime = g.runtime();
  for (const PickedEquation& e : equations) starts_.push_back(starts_.back() + e.size());
  if (together) {
    all_ = parallel_zeros<double>(rows(), unknowns());
    locked_.emplace(runtime, all_.data(), static_cast<std::size_t>(all_.size()) * sizeof(double));
  }
  const auto place = [&](std::size_t i, index_t height) {
    const index_t r = equations[i].size();
    if (!together) return columns(runtime, height, r, r, "Q");
    return TileMatrix<double>::map(runtime, &all_(0, starts_[i]), height, r, all_.ld(), {height, r}, "Q");
  };
  std::vector<std::size_t> groups, alone;
  for (std::size_t i = 0; i < equations.size(); ++i) {
    const index_t height = equations[i].variables->rows;
    Q_.push_back(own[i] == nullptr ? place(i, height)
                                   : columns(runtime, height, equations[i].size(), equations[i].size(), "Q"));
    const bool moderate = runtime.gpus() > 0 && own[i] == nullptr && conditions[i] <= largest_condition;
    (moderate ? groups : alone).push_back(i);
  }
  factor_separately(g, equations, alone);
  if (!groups.empty()) factor_in_groups(g, model, equations, groups);
  for (std::size_t i = 0; i < own.size(); ++i) {
    if (own[i] == nullptr) continue;
    const HostMatrix<double> turned = in_model_basis(g, *own[i], Q_[i]);
    Q_[i] = place(i, turned.rows());
    Q_[i].copy_from(turned.data(), turned.ld());
  }
  const auto at_once = static_cast<std::size_t>(W_.tile_shape().nb);
  for (std::size_t from = 0; from < equations.size(); from += at_once) {
    const index_t length = starts_[std::min(from + at_once, equations.size())] - starts_[from];
    X_.push_back(columns(runtime, length, 1, 1, "x"));
    Y_.push_back(columns(runtime, length, 1, 1, "y"));
  }
}

void EquationBases::factor_separately(Graph& g, const std::vector<PickedEquation>& equations,
                                      const std::vector<std::size_t>& which) {
  Runtime& runtime = g.runtime();
  std::map<const Variables*, TileMatrix<double>> inputs;
  std::vector<TileMatrix<int>> picks;
  for (const std::size_t i : which) {
    const PickedEquation& e = equations[i];
    const index_t r = e.size(), rows = e.variables->rows;
    const auto input = inputs.try_emplace(e.variables, whole(runtime, e.variables->A)).first;
    picks.push_back(TileMatrix<int>::map(runtime, e.picks.data(), 2, r + 2, 2, {2, r + 2}, "picks"));
    triangles_.push_back({{i}, columns(runtime, r, r, r, "Ri")});
    const int* const heights = e.picks.data() + 1;
    const Shape work = equation_work(rows, r, runtime.gpus() > 0);
    g.insert<EquationBasis>({equation_panels(heights, r, 2, rows), staircase_flops(heights, r, 2)}, input->second(0, 0),
                            picks.back()(0, 0), Q_[i](0, 0), triangles_.back().R(0, 0),
                            g.scratch<double>(work.rows, work.cols));
  }
  g.wait();
}

void EquationBases::factor_in_groups(Graph& g, const Variables& model, const std::vector<PickedEquation>& equations,
                                     const std::vector<std::size_t>& which) {
  Runtime& runtime = g.runtime();
  const auto A = whole(runtime, model.A);
  const auto groups = equation_groups(runtime, equations, which);
  std::vector<HostMatrix<int>> all_picks;
  std::vector<TileMatrix<int>> picks;
  for (const auto& group : groups) {
    const index_t r = equations[group.front()].size(), count = static_cast<index_t>(group.size());
    all_picks.push_back(group_picks(equations, group));
    picks.push_back(
        TileMatrix<int>::map(runtime, all_picks.back().data(), 2, count * (r + 2), 2, {2, count * (r + 2)}, "picks"));
    triangles_.push_back({group, columns(runtime, r, r * count, r * count, "Ri")});
    double flops = 0;
    std::vector<Tile<double>> bases;
    for (const std::size_t i : group) {
      flops += staircase_flops(equations[i].picks.data() + 1, equations[i].size(), 2);
      bases.push_back(Q_[i](0, 0));
    }
    const Shape work = equation_bases_work(model.rows, r, count, runtime.gpus() > 0);
    g.insert<kernels::EquationBases>(on_gpu, {count, model.rows, flops}, A(0, 0), picks.back()(0, 0),
                                     triangles_.back().R(0, 0), g.scratch<double>(work.rows, work.cols), bases);
  }
  g.wait();
}

HostMatrix<double> EquationBases::R(std::size_t i) const {
  for (const Triangles& some : triangles_) {
    const auto at = std::find(some.which.begin(), some.which.end(), i);
    if (at == some.which.end()) continue;
    const index_t r = starts_[i + 1] - starts_[i];
    HostMatrix<double> own(r, r);
    const auto all = some.R(0, 0).read();
    for (index_t j = 0; j < r; ++j) std::copy_n(&all(0, (at - some.which.begin()) * some.R.m() + j), r, &own(0, j));
    return own;
  }
  return {};
}

HostMatrix<double> EquationBases::solve(Graph& g, const HostMatrix<double>& x) const {
  std::vector<HostMatrix<double>> parts;
  std::vector<TileMatrix<double>> tiles;
  const auto each = [&](const auto& f) {  // f(part of x, its elements, index among all elements)
    for (std::size_t k = 0; k < triangles_.size(); ++k)
      for (std::size_t e = 0; e < triangles_[k].which.size(); ++e) {
        const std::size_t i = triangles_[k].which[e];
        f(&parts[k](0, static_cast<index_t>(e)), starts_[i + 1] - starts_[i], starts_[i]);
      }
  };
  for (const Triangles& some : triangles_)
    parts.push_back(HostMatrix<double>::zeros(some.R.m(), std::ssize(some.which)));
  each([&](double* part, index_t r, index_t first) { std::copy_n(&x(first, 0), r, part); });
  for (std::size_t k = 0; k < parts.size(); ++k) {
    tiles.push_back(whole(g.runtime(), parts[k]));
    g.insert<BasisSolve>(on_gpu, {}, triangles_[k].R(0, 0), tiles[k](0, 0));
  }
  g.wait();
  tiles.clear();  // copies them to the host
  HostMatrix<double> solved(unknowns(), 1);
  each([&](const double* part, index_t r, index_t first) { std::copy_n(part, r, &solved(first, 0)); });
  return solved;
}

std::vector<Tile<double>> EquationBases::bases(std::size_t group) const {
  const auto at_once = static_cast<std::size_t>(W_.tile_shape().nb), from = group * at_once;
  std::vector<Tile<double>> some;
  for (std::size_t i = from; i < std::min(from + at_once, Q_.size()); ++i) some.push_back(Q_[i](0, 0));
  return some;
}

auto EquationBases::new_parts(Runtime& runtime) const -> Parts {
  Parts parts;
  for (const TileMatrix<double>& part : X_) parts.push_back(columns(runtime, part.m(), 1, 1, "v"));
  return parts;
}

void EquationBases::fill(const Parts& parts, const HostMatrix<double>& x) {
  index_t first = 0;
  for (const TileMatrix<double>& part : parts) {
    part.copy_from(&x(first, 0), std::max<index_t>(part.m(), 1));
    first += part.m();
  }
}

HostMatrix<double> EquationBases::take(Graph& g, const Parts& parts) const {
  g.wait();
  HostMatrix<double> y(unknowns(), 1);
  index_t first = 0;
  for (const TileMatrix<double>& part : parts) {
    part.copy_to(&y(first, 0), std::max<index_t>(part.m(), 1));
    first += part.m();
  }
  return y;
}

const HostMatrix<double>& EquationBases::run_concurrently() const {
  for (const TileMatrix<double>& Q : Q_) Q.bring_home();
  return all_;
}

HostMatrix<double> EquationBases::times(Graph& g, const HostMatrix<double>& x) const {
  fill(X_, x);
  for (std::size_t k = 0; k < X_.size(); ++k)
    g.insert<BasisTimes>(on_gpu, {}, X_[k](0, 0), W_(0, static_cast<index_t>(k)), bases(k));
  g.wait();
  return W_.to_host();
}

HostMatrix<double> EquationBases::transposed_times(Graph& g, const HostMatrix<double>& v) const {
  V_.copy_from(v.data(), v.ld());
  for (std::size_t k = 0; k < X_.size(); ++k)
    g.insert<BasisTransposedTimes>(on_gpu, {}, V_(0, static_cast<index_t>(k)), Y_[k](0, 0), bases(k));
  return take(g, Y_);
}

TileMatrix<double> EquationBases::weights(Runtime& runtime, const HostMatrix<double>& P) const {
  const index_t at_once = W_.tile_shape().nb;
  return TileMatrix<double>::map(runtime, P.data(), P.rows(), P.cols(), P.ld(), {at_once, at_once}, "P");
}

HostMatrix<double> EquationBases::weighted_products(Graph& g, const TileMatrix<double>& P,
                                                    const HostMatrix<double>& x) const {
  fill(X_, x);
  insert_products(g, P);
  return take(g, Y_);
}

void EquationBases::insert_products(Graph& g, const TileMatrix<double>& P) const {
  for (std::size_t k = 0; k < X_.size(); ++k)
    g.insert<BasisTimes>(on_gpu, {}, X_[k](0, 0), W_(0, static_cast<index_t>(k)), bases(k));
  gemm(g, Op::none, Op::none, 1.0, W_, P, 0.0, V_, {.priority = on_gpu});
  for (std::size_t k = 0; k < X_.size(); ++k)
    g.insert<BasisTransposedTimes>(on_gpu, {}, V_(0, static_cast<index_t>(k)), Y_[k](0, 0), bases(k));
}

}  // namespace tesela::detail
