#pragma once

#include <tesela/codelets/toeplitz/cauchy.hpp>
#include <tesela/runtime/codelet.hpp>

#include <array>

namespace tesela::kernels {

// A block of C (see cauchy.hpp) as a binary tree of index ranges (a hierarchically semiseparable matrix; S.
// Chandrasekaran, M. Gu, X. Sun, J. Xia, J. Zhu, SIAM J. Matrix Anal. Appl. 29, 2007). With x_a = cos(2 a + o) an entry
// is 2 (g_a h_b - h_a g_b) / (x_b - x_a), so outside a range its rows are combinations of few of them, the skeleton. A
// pivoted QR factorization of proxy columns chooses it: columns next to the poles of E. Zolotarev's rational functions
// represent all others (proxies: P. Martinsson, V. Rokhlin, M. Tygert, Comput. Math. Appl. 50, 2005). Combinations of
// a range's equations contain only its own unknowns, and eliminate as many of them, with pivots among all (by
// rotations: S. Chandrasekaran, M. Gu, T. Pals, SIAM J. Matrix Anal. Appl. 28, 2006).

/// Ranges of one block's tree. Level l has 2^l nodes. Level `cut` has a subtree per task, the levels above a node.
struct SuperfastTree {
  static constexpr int most_levels = 24;        ///< limit of `levels`
  index_t n = 0;                                ///< order of T
  int part = 0, levels = 0, cut = 0;            ///< part: 0 symmetric, 1 skew; levels: their number
  double tolerance = 0;                         ///< of the skeletons, relative to the norm
  std::array<index_t, most_levels + 1> most{};  ///< largest skeleton of each level

  index_t rows() const { return cauchy_rows(n, part); }  ///< rows of the block
  /// Returns the first row of node j of a level, or the end of node j - 1.
  index_t first(int level, index_t j) const { return (j * rows()) >> level; }
  /// Returns the subtrees.
  index_t subtrees() const { return index_t{1} << cut; }
  /// Return the elements of the tiles of a task: factors, skeleton and its row numbers.
  index_t factor_numbers(int level) const;
  index_t skeleton_numbers(int level) const { return 2 + 2 * most[at(level)] * most[at(level)]; }
  /// Returns at least the rows of a skeleton.
  index_t places(int level) const { return most[at(level)] > 0 ? most[at(level)] : 1; }

 private:
  index_t node_numbers(int level) const;
};

/// Returns the tree for a block of a matrix of order n.
SuperfastTree superfast_tree(index_t n, int part, double tolerance);

/// Computes what all nodes read of C, n x 3.
///
/// w        n + 1 numbers w(k).
/// sums     n + 2 x 2: the sums of g^2 and h^2 over the rows of a block before each row, the second block after the
///          first.
template <class T>
struct SuperfastTables {
  static constexpr auto name = "superfast_tables";
  static constexpr std::uint32_t color = 0x17becf;
  struct Args {};
  static void cpu(const Args& args, In<T> c, Out<T> w, Out<double> sums);
};

/// Arguments of a node.
struct SuperfastNodeArgs {
  SuperfastTree tree;
  int level = 0;      ///< 0: the root
  index_t index = 0;  ///< from 0 in its level
  double norm = 0;    ///< of T - sigma I at size 1
  std::uint64_t cost_key() const { return static_cast<std::uint64_t>(tree.levels - level); }
};

/// Factors a subtree, from its leaves to node `index` of `level`.
///
/// factors    its nodes, children first.
/// skeleton   equations and unknowns of the node: their number, 1 after a breakdown, the matrix and the unknowns'
///            effect on other nodes.
/// places     rows of the skeleton.
template <class T>
struct SuperfastSubtree {
  static constexpr auto name = "superfast_subtree";
  static constexpr std::uint32_t color = 0x4c72b0;
  using Args = SuperfastNodeArgs;
  static void cpu(const Args& args, In<T> c, In<T> w, In<double> sums, Out<T> factors, Out<T> skeleton,
                  Out<index_t> places);
};

/// Factors the parent of two nodes in the same way.
template <class T>
struct SuperfastParent {
  static constexpr auto name = "superfast_parent";
  static constexpr std::uint32_t color = 0x55a868;
  using Args = SuperfastNodeArgs;
  static void cpu(const Args& args, In<T> c, In<T> w, In<double> sums, In<T> first, In<index_t> first_places,
                  In<T> second, In<index_t> second_places, Out<T> factors, Out<T> skeleton, Out<index_t> places);
};

}  // namespace tesela::kernels
