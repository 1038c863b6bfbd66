#include <tesela/codelets/toeplitz/internal/superfast_node.hpp>
#include <tesela/codelets/toeplitz/superfast/superfast.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tesela::kernels {

using superfast::CauchyBlock;
using superfast::Skeleton;
namespace {

constexpr index_t largest_leaf = 96;  // leaves of 48 to 96 rows; 24 to 48 and 128 are slower on one core
constexpr int most_cut = 6, least_below = 3;

template <class T>
CauchyBlock<T> block_of(const SuperfastNodeArgs& args, const In<T>& c, const In<T>& w, const In<double>& sums) {
  const SuperfastTree& tree = args.tree;
  const index_t start = tree.part * cauchy_rows(tree.n, 0), first = start + tree.part;
  return {tree.n, tree.rows(),     tree.part + 1,   &c(start, 0),   &c(start, 1), &c(start, 2),
          w.data, &sums(first, 0), &sums(first, 1), tree.tolerance, args.norm};
}

superfast::Range range_of(const SuperfastTree& tree, int level, index_t j) {
  return {tree.first(level, j), tree.first(level, j + 1), tree.most[at(level)]};
}

/// Factors the subtree of a node; `data` moves behind its nodes.
template <class T>
Skeleton<T> factor_subtree(const CauchyBlock<T>& block, const SuperfastTree& tree, int level, index_t j, T*& data) {
  Skeleton<T> to;
  if (level == tree.levels) {
    data += factor_leaf(block, range_of(tree, level, j), data, to).size();
  } else {
    const Skeleton<T> first = factor_subtree(block, tree, level + 1, 2 * j, data),
                      second = factor_subtree(block, tree, level + 1, 2 * j + 1, data);
    data += factor_parent(block, range_of(tree, level, j), first, second, data, to).size();
  }
  return to;
}

template <class T>
void write(const Skeleton<T>& from, const Out<T>& skeleton, const Out<index_t>& places) {
  T* to = skeleton.data;
  *to++ = static_cast<T>(from.rows.size());
  *to++ = from.broken ? T(1) : T(0);
  to = std::copy(from.d.begin(), from.d.end(), to);
  std::copy(from.v.begin(), from.v.end(), to);
  std::copy(from.rows.begin(), from.rows.end(), places.data);
}

template <class T>
Skeleton<T> read(const In<T>& skeleton, const In<index_t>& places) {
  const auto r = static_cast<index_t>(skeleton.data[0]);
  const T* const d = skeleton.data + 2;
  return {{places.data, places.data + r}, {d, d + r * r}, {d + r * r, d + 2 * r * r}, skeleton.data[1] != T(0)};
}

}  // namespace

index_t SuperfastTree::node_numbers(int level) const {
  if (level == levels) {
    const index_t leaf = (rows() >> level) + 1;
    return superfast::node_size(leaf, 0, 0);
  }
  const index_t child = most[at(level + 1)];
  return superfast::node_size(2 * child, child, child);
}

index_t SuperfastTree::factor_numbers(int level) const {
  if (level < cut) return node_numbers(level);
  index_t numbers = 0;
  for (int below = level; below <= levels; ++below) numbers += node_numbers(below) << (below - level);
  return numbers;
}

SuperfastTree superfast_tree(index_t n, int part, double tolerance) {
  SuperfastTree tree{n, part, 0, 0, tolerance, {}};
  while ((tree.rows() >> tree.levels) > largest_leaf) ++tree.levels;
  tree.cut = std::clamp(tree.levels - least_below, 0, most_cut);
  for (int level = 1; level <= tree.levels; ++level) {
    const index_t nodes = index_t{1} << level;
    index_t& most = tree.most[at(level)];
    for (const index_t j : {index_t{0}, nodes / 4, nodes / 2, nodes - 1}) {
      const auto range = range_of(tree, level, j);
      // The skeleton has at most two rows per proxy, and at most 0.71 of this number in random matrices.
      const auto columns =
          2 * static_cast<index_t>(superfast::proxies(n, tree.rows(), part + 1, range.lo, range.hi, tolerance).size());
      most = std::max(most, (17 * columns) / 20 + 6);
    }
    most = std::min(most, (tree.rows() >> level) + 1);
  }
  return tree;
}

template <class T>
void SuperfastTables<T>::cpu(const Args&, In<T> c, Out<T> w, Out<double> sums) {
  const index_t n = c.rows;
  w(0, 0) = 0;
  for (index_t k = 1; k <= n; ++k)
    w(k, 0) = static_cast<T>(1 / std::sin(static_cast<double>(k) * std::numbers::pi / static_cast<double>(n + 1)));
  for (int part = 0; part < 2; ++part)
    for (index_t column = 0; column < 2; ++column) {
      const index_t start = part * cauchy_rows(n, 0);
      double* const to = &sums(start + part, column);
      to[0] = 0;
      for (index_t a = 0; a < cauchy_rows(n, part); ++a) {
        const auto value = static_cast<double>(c(start + a, column));
        to[a + 1] = to[a] + value * value;
      }
    }
}

template <class T>
void SuperfastSubtree<T>::cpu(const Args& args, In<T> c, In<T> w, In<double> sums, Out<T> factors, Out<T> skeleton,
                              Out<index_t> places) {
  T* data = factors.data;
  write(factor_subtree(block_of(args, c, w, sums), args.tree, args.level, args.index, data), skeleton, places);
}

template <class T>
void SuperfastParent<T>::cpu(const Args& args, In<T> c, In<T> w, In<double> sums, In<T> first, In<index_t> first_places,
                             In<T> second, In<index_t> second_places, Out<T> factors, Out<T> skeleton,
                             Out<index_t> places) {
  Skeleton<T> to;
  factor_parent(block_of(args, c, w, sums), range_of(args.tree, args.level, args.index), read(first, first_places),
                read(second, second_places), factors.data, to);
  write(to, skeleton, places);
}

TESELA_STRUCTS_FOR_REALS(SuperfastTables, SuperfastSubtree, SuperfastParent)

}  // namespace tesela::kernels
