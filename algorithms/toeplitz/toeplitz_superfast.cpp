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
TileMatrix<U> tile(Graph& g, Shape shape, const char* name) {
  return TileMatrix<U>(g.runtime(), shape.rows, shape.cols, {shape.rows, shape.cols}, name);
}
template <class U>
TileMatrix<U> column(Graph& g, index_t rows, const char* name) {
  return tile<U>(g, {rows, 1}, name);
}

template <class T>
std::vector<Tile<T>> tiles_of(const std::vector<TileMatrix<T>>& matrices) {
  std::vector<Tile<T>> tiles;
  for (const TileMatrix<T>& matrix : matrices) tiles.push_back(matrix(0, 0));
  return tiles;
}

}  // namespace

template <class T>
double superfast_tolerance(bool tight) {
  const auto eps = static_cast<double>(std::numeric_limits<T>::epsilon());
  return tight ? 64 * eps : std::pow(eps, 0.64);
}

/// The solve for one tile of right-hand sides.
template <class T>
class ToeplitzSuperfast<T>::Columns {
 public:
  Columns(Graph& g, const ToeplitzSuperfast& of, const Tile<T>& b, const Tile<double>& outcome,
          const RefinedSolveArgs<T>& args)
      : g_(g),
        of_(of),
        args_(args),
        b_(b),
        outcome_(outcome),
        state_(tile<T>(g, superfast_state(of.n(), b.cols()), "state")),
        sine_(tile<T>(g, {of.n(), b.cols()}, "sine")) {
    g_.insert<SuperfastBegin<T>>(on_gpu, args_, spectrum(), b_, outcome_, state_(0, 0), sine_(0, 0), work());
    improve(true);
  }

  /// Inserts the product with the inverse and the step that uses it.
  void improve(bool first) {
    std::vector<TileMatrix<T>> parts;
    for (const SuperfastTree& tree : of_.trees_)
      if (tree.rows() > 0) substitute(tree, parts);
    g_.insert<SuperfastImprove<T>>(on_gpu, {args_, first}, spectrum(), b_, outcome_, state_(0, 0), sine_(0, 0), work(),
                                   tiles_of(parts));
  }

  /// Waits for the last step. Returns true if more steps are known not to help.
  bool enough() const { return outcome_.read()(0, 0) != 0; }

  void finish() const {
    g_.insert<SuperfastEnd<T>>(on_gpu, args_, spectrum(), b_, outcome_, state_(0, 0), g_.status(),
                               tiles_of(of_.roots_));
  }

 private:
  Tile<T> spectrum() const { return of_.shifted_.matrix.spectrum(); }
  auto work() const {
    const Shape shape = superfast_work(of_.n(), b_.cols());
    return g_.scratch<T>(shape.rows, shape.cols);
  }

  void substitute(const SuperfastTree& tree, std::vector<TileMatrix<T>>& parts) {
    const std::vector<TileMatrix<T>>& factors = of_.factors_[static_cast<std::size_t>(tree.part)];
    const index_t k = b_.cols(), places = tree.places(tree.cut);
    const auto remaining = tile<T>(g_, {places, k * tree.subtrees()}, "remaining");
    std::vector<TileMatrix<T>> eliminated, messages;
    for (index_t j = 0; j < tree.subtrees(); ++j) {
      const index_t rows = tree.first(tree.cut, j + 1) - tree.first(tree.cut, j);
      eliminated.push_back(tile<T>(g_, {rows, k}, "eliminated"));
      messages.push_back(tile<T>(g_, {places, 2 * k}, "message"));
      g_.insert<SuperfastForward<T>>({tree, j}, factors[static_cast<std::size_t>(j)](0, 0), sine_(0, 0),
                                     eliminated.back()(0, 0), messages.back()(0, 0));
    }
    std::vector<Tile<T>> top = tiles_of(messages);
    for (auto j = static_cast<std::size_t>(tree.subtrees()); j < factors.size(); ++j) top.push_back(factors[j](0, 0));
    g_.insert<SuperfastTop<T>>({tree}, remaining(0, 0), top);
    for (index_t j = 0; j < tree.subtrees(); ++j) {
      const TileMatrix<T>& own = eliminated[static_cast<std::size_t>(j)];
      parts.push_back(tile<T>(g_, {own.m(), k}, "part"));
      g_.insert<SuperfastBackward<T>>({tree, j}, factors[static_cast<std::size_t>(j)](0, 0), own(0, 0), remaining(0, 0),
                                      parts.back()(0, 0));
    }
  }

  Graph& g_;
  const ToeplitzSuperfast& of_;
  RefinedSolveArgs<T> args_;
  Tile<T> b_;
  Tile<double> outcome_;
  TileMatrix<T> state_, sine_;
};

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
  std::vector<TileMatrix<T>>& all = factors_[static_cast<std::size_t>(tree.part)];
  std::vector<NodeTiles<T>> below, nodes;
  for (int level = tree.cut; level >= 0; --level, below = std::move(nodes), nodes.clear())
    for (index_t j = 0; j < index_t{1} << level; ++j) {
      const SuperfastNodeArgs args{tree, level, j, shifted_.norm};
      all.push_back(column<T>(g, tree.factor_numbers(level), "factors"));
      nodes.push_back(
          {column<T>(g, tree.skeleton_numbers(level), "skeleton"), column<index_t>(g, tree.places(level), "places")});
      const Tile<T> factors = all.back()(0, 0), skeleton = nodes.back().skeleton(0, 0);
      const Tile<index_t> places = nodes.back().places(0, 0);
      if (level == tree.cut) {
        g.insert<SuperfastSubtree<T>>(args, shifted_.blocks(), w_(0, 0), sums_(0, 0), factors, skeleton, places);
      } else {
        const auto &first = below[static_cast<std::size_t>(2 * j)],
                   &second = below[static_cast<std::size_t>(2 * j + 1)];
        g.insert<SuperfastParent<T>>(args, shifted_.blocks(), w_(0, 0), sums_(0, 0), first.skeleton(0, 0),
                                     first.places(0, 0), second.skeleton(0, 0), second.places(0, 0), factors, skeleton,
                                     places);
      }
    }
  roots_.push_back(below.front().skeleton);
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
        [&](Graph& g, const auto& B, const auto& outcome) {
          insert(g, B, outcome, {shifted_.norm, steps});
        },
        &residual);
    if (std::isinf(found) || found * residual <= 0.05) return found;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

template <class T>
void ToeplitzSuperfast<T>::insert(Graph& g, const TileMatrix<T>& B, const TileMatrix<double>& outcome,
                                  const RefinedSolveArgs<T>& args) const {
  std::vector<Columns> solves;
  for (index_t j = 0; j < B.nt(); ++j) solves.emplace_back(g, *this, B(0, j), outcome(j, 0), args);
  std::vector<Columns*> active;
  for (Columns& solve : solves) active.push_back(&solve);
  for (int step = 0; step < args.steps && !active.empty(); ++step) {
    for (Columns* solve : active) solve->improve(false);
    std::erase_if(active, [](const Columns* solve) { return solve->enough(); });
  }
  for (const Columns& solve : solves) solve.finish();
}

TESELA_FUNCTIONS_FOR_REALS(superfast_tolerance)
TESELA_CLASSES_FOR_REALS(ToeplitzSuperfast)

}  // namespace tesela
