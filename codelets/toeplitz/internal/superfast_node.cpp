#include <tesela/codelets/toeplitz/internal/superfast_node.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/host/lapack/lapack.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

namespace tesela::kernels::superfast {
namespace {

template <class T>
std::vector<T> numbers(index_t rows, index_t columns) {
  return std::vector<T>(static_cast<std::size_t>(rows * columns));
}

/// Equations of a node, transposed: column i of d has the coefficients of equation i, and column i of v the effect of
/// the unknowns on other nodes by row i. m x m each.
template <class T>
struct Equations {
  std::vector<index_t> rows;
  std::vector<T> d, v;
};

/// Splits the equations: `kept` (m x 2 r) becomes the skeleton's coefficients and the effect on other nodes through
/// the skeleton, `top` (m x (m - r)) the others' coefficients without unknowns of other nodes.
template <class T>
void split(const Equations<T>& e, const Interpolation<T>& chosen, std::vector<T>& kept, std::vector<T>& top) {
  const auto m = static_cast<index_t>(e.rows.size());
  const index_t r = chosen.r, gone = m - r;
  std::vector<T> effect = numbers<T>(m, gone);
  for (index_t k = 0; k < m; ++k) {
    const index_t from = chosen.order[at(k)] * m;
    std::copy_n(e.d.data() + from, m, k < r ? kept.data() + k * m : top.data() + (k - r) * m);
    std::copy_n(e.v.data() + from, m, k < r ? kept.data() + (r + k) * m : effect.data() + (k - r) * m);
  }
  if (r == 0 || gone == 0) return;
  const T* const others = chosen.others.data();
  blas::gemm<T>(Op::none, Op::none, m, gone, r, -1, kept.data(), m, others, r, 1, top.data(), m);
  blas::gemm<T>(Op::none, Op::transpose, m, r, gone, 1, effect.data(), m, others, r, 1, kept.data() + m * r, m);
}

/// Eliminates m - r unknowns by the factors of `top`, with pivots among all m, and writes the node.
template <class T>
void eliminate(const Node<T>& node, T least, std::vector<T>& kept, std::vector<T>& top, bool& broken) {
  const index_t m = node.m, r = node.r, gone = node.gone();
  if (gone == 0) return;
  std::vector<int> swaps(at(gone));
  static_cast<void>(lapack::getrf(m, gone, top.data(), m, swaps.data()));
  for (index_t k = 0; k < gone; ++k) {
    broken = broken || std::abs(top[at(k * (m + 1))]) <= least;
    const index_t other = swaps[at(k)] - 1;
    node.swaps()[k] = static_cast<T>(other);
    for (index_t j = 0; other != k && j < 2 * r; ++j) std::swap(kept[at(k + j * m)], kept[at(other + j * m)]);
    std::fill_n(node.inverse() + k * gone, gone, T(0));
    node.inverse()[k * (gone + 1)] = 1;
    for (index_t j = 0; j < r; ++j) node.backward()[k + j * gone] = top[at(gone + j + k * m)];
  }
  blas::trsm<T>(Op::transpose, gone, gone, top.data(), m, node.inverse(), gone);
  blas::solve_unit_lower<T>(Op::transpose, gone, gone, top.data(), m, node.inverse(), gone);
  if (r == 0) return;
  blas::solve_unit_lower<T>(Op::transpose, gone, r, top.data(), m, node.backward(), gone);
  for (index_t j = 0; j < 2 * r; ++j) std::copy_n(kept.data() + j * m, gone, node.forward() + j * gone);
  blas::gemm<T>(Op::transpose, Op::none, r, 2 * r, gone, -1, node.backward(), gone, node.forward(), gone, 1,
                kept.data() + gone, m);
}

/// Factors a node with these equations.
template <class T>
Node<T> factor(const CauchyBlock<T>& block, const Range& range, const Equations<T>& e, Node<T> node, Skeleton<T>& to) {
  const index_t m = node.m;
  Interpolation<T> chosen;
  if (range.most > 0) {
    chosen = interpolate(block, range.lo, range.hi, e.rows, range.most);
  } else {
    chosen.order.resize(at(m));
    std::iota(chosen.order.begin(), chosen.order.end(), index_t{0});
  }
  const index_t r = node.r = chosen.r, gone = node.gone();
  std::copy(chosen.order.begin(), chosen.order.end(), node.equations());
  std::copy(chosen.others.begin(), chosen.others.end(), node.interpolation());
  std::vector<T> kept = numbers<T>(m, 2 * r), top = numbers<T>(m, gone);
  split(e, chosen, kept, top);
  // The same threshold as for the other eliminations.
  const T least = static_cast<T>(16 * static_cast<double>(std::numeric_limits<T>::epsilon()) * block.norm);
  eliminate(node, least, kept, top, to.broken);
  const std::array<index_t, Node<T>::header> header{m, r, node.first, node.second, to.broken ? 1 : 0};
  std::copy(header.begin(), header.end(), node.data);
  to.rows.resize(at(r));
  to.d = numbers<T>(r, r);
  to.v = numbers<T>(r, r);
  for (index_t j = 0; j < r; ++j) {
    to.rows[at(j)] = e.rows[at(chosen.order[at(j)])];
    std::copy_n(kept.data() + j * m + gone, r, to.d.data() + j * r);
    std::copy_n(kept.data() + (r + j) * m + gone, r, to.v.data() + j * r);
  }
  return node;
}

}  // namespace

template <class T>
Node<T> factor_leaf(const CauchyBlock<T>& block, const Range& range, T* data, Skeleton<T>& to) {
  const index_t m = range.hi - range.lo;
  Equations<T> e{std::vector<index_t>(at(m)), numbers<T>(m, m), numbers<T>(m, m)};
  std::iota(e.rows.begin(), e.rows.end(), range.lo);
  for (index_t j = 0; j < m; ++j) {
    for (index_t i = 0; i < j; ++i) e.d[at(i + j * m)] = e.d[at(j + i * m)] = block.entry(range.lo + i, range.lo + j);
    e.d[at(j + j * m)] = block.diagonal[range.lo + j];
    e.v[at(j + j * m)] = 1;
  }
  return factor(block, range, e, Node<T>{m, 0, 0, 0, data}, to);
}

template <class T>
Node<T> factor_parent(const CauchyBlock<T>& block, const Range& range, const Skeleton<T>& first,
                      const Skeleton<T>& second, T* data, Skeleton<T>& to) {
  const auto p = static_cast<index_t>(first.rows.size()), q = static_cast<index_t>(second.rows.size()), m = p + q;
  Equations<T> e{first.rows, numbers<T>(m, m), numbers<T>(m, m)};
  e.rows.insert(e.rows.end(), second.rows.begin(), second.rows.end());
  std::vector<T> coupling = numbers<T>(p, q);
  for (index_t j = 0; j < q; ++j)
    for (index_t i = 0; i < p; ++i) coupling[at(i + j * p)] = block.entry(first.rows[at(i)], second.rows[at(j)]);
  const auto place = [m](const std::vector<T>& from, index_t rows, index_t start, std::vector<T>& matrix) {
    for (index_t j = 0; j < rows; ++j) std::copy_n(from.data() + j * rows, rows, &matrix[at(start + (start + j) * m)]);
  };
  place(first.d, p, 0, e.d);
  place(first.v, p, 0, e.v);
  place(second.d, q, p, e.d);
  place(second.v, q, p, e.v);
  if (p > 0 && q > 0) {
    blas::gemm<T>(Op::none, Op::transpose, q, p, q, 1, second.v.data(), q, coupling.data(), p, 0, e.d.data() + p, m);
    blas::gemm<T>(Op::none, Op::none, p, q, p, 1, first.v.data(), p, coupling.data(), p, 0, e.d.data() + p * m, m);
  }
  to.broken = first.broken || second.broken;
  const Node<T> node = factor(block, range, e, Node<T>{m, 0, p, q, data}, to);
  std::copy(coupling.begin(), coupling.end(), node.coupling());
  return node;
}

TESELA_FUNCTIONS_FOR_REALS(factor_leaf, factor_parent)

}  // namespace tesela::kernels::superfast
