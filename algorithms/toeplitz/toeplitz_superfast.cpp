#include <tesela/algorithms/toeplitz/toeplitz_condition.hpp>
#include <tesela/algorithms/toeplitz/toeplitz_superfast.hpp>

#include <cmath>
#include <limits>

namespace tesela {

using namespace kernels;
namespace {

/// A node's remaining equations.
template <class T>
struct NodeTiles {
  TileMatrix<T> skeleton;
  TileMatrix<index_t> places;
};

template <class U>
TileMatrix<U> column(Graph& g, index_t rows, const char* name) {
  return TileMatrix<U>(g.runtime(), rows, 1, {rows, 1}, name);
}

}  // namespace

template <class T>
double superfast_tolerance(bool tight) {
  const auto eps = static_cast<double>(std::numeric_limits<T>::epsilon());
  return tight ? 64 * eps : std::pow(eps, 0.64);
}

template <class T>
ToeplitzSuperfast<T>::ToeplitzSuperfast(Graph& g, const Toeplitz<T>& A, T sigma, double tolerance)
    : shifted_(g, A, sigma),
      w_(column<T>(g, A.n() + 1, "w")),
      sums_(g.runtime(), A.n() + 2, 2, {A.n() + 2, 2}, "sums"),
      trees_{superfast_tree(A.n(), 0, tolerance), superfast_tree(A.n(), 1, tolerance)} {
  g.insert<SuperfastTables<T>>({}, shifted_.blocks(), w_(0, 0), sums_(0, 0));
  for (const SuperfastTree& tree : trees_)
    if (tree.rows() > 0) factor(g, tree);
}

template <class T>
void ToeplitzSuperfast<T>::factor(Graph& g, const SuperfastTree& tree) {
  std::vector<NodeTiles<T>> below, nodes;
  for (int level = tree.cut; level >= 0; --level, below = std::move(nodes), nodes.clear())
    for (index_t j = 0; j < index_t{1} << level; ++j) {
      const SuperfastNodeArgs args{tree, level, j, shifted_.norm};
      factors_.push_back(column<T>(g, tree.factor_numbers(level), "factors"));
      nodes.push_back(
          {column<T>(g, tree.skeleton_numbers(level), "skeleton"), column<index_t>(g, tree.places(level), "places")});
      const Tile<T> factors = factors_.back()(0, 0), skeleton = nodes.back().skeleton(0, 0);
      const Tile<index_t> places = nodes.back().places(0, 0);
      if (level == tree.cut) {
        g.insert<SuperfastSubtree<T>>(args, shifted_.blocks(), w_(0, 0), sums_(0, 0), factors, skeleton, places);
      } else {
        const auto &first = below[static_cast<std::size_t>(2 * j)], &second = below[static_cast<std::size_t>(2 * j + 1)];
        g.insert<SuperfastParent<T>>(args, shifted_.blocks(), w_(0, 0), sums_(0, 0), first.skeleton(0, 0),
                                     first.places(0, 0), second.skeleton(0, 0), second.places(0, 0), factors, skeleton,
                                     places);
      }
    }
}

template <class T>
void ToeplitzSuperfast<T>::solve(Graph& g, const TileMatrix<T>& B, const TileMatrix<double>& outcome,
                                 const ToeplitzRefinement& refinement) const {
  require_outcome("ToeplitzSuperfast::solve", B, n(), outcome);
  insert(g, B, outcome, refinement.args<T>(shifted_.matrix.exponent(), shifted_.norm));
}

template <class T>
double ToeplitzSuperfast<T>::condition(Runtime& runtime) const {
  // The relative error of a solve is its residual times the condition, and a few refinement steps without success
  // divide the residual of a singular matrix by their number.
  for (const int steps : {0, 1, 3}) {
    double residual = 0;
    const double found = toeplitz_condition(
        runtime, shifted_.matrix,
        [&](Graph& g, const auto& B, const auto& outcome) { insert(g, B, outcome, {shifted_.norm, steps}); },
        &residual);
    if (std::isinf(found) || found * residual <= 0.05) return found;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

template <class T>
void ToeplitzSuperfast<T>::insert(Graph& g, const TileMatrix<T>& B, const TileMatrix<double>& outcome,
                                  const RefinedSolveArgs<T>& args) const {
  std::vector<Tile<T>> factors;
  for (const TileMatrix<T>& tile : factors_) factors.push_back(tile(0, 0));
  for (index_t j = 0; j < B.nt(); ++j) {
    const Shape work = superfast_work(n(), B(0, j).cols());
    g.insert<SuperfastSolve<T>>({args, trees_}, shifted_.matrix.spectrum(), B(0, j), outcome(j, 0), g.status(),
                                g.scratch<T>(work.rows, work.cols), factors);
  }
}

template double superfast_tolerance<float>(bool);
template double superfast_tolerance<double>(bool);
template class ToeplitzSuperfast<float>;
template class ToeplitzSuperfast<double>;

}  // namespace tesela
