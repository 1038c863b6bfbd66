#include <tesela/codelets/toeplitz/internal/superfast_sweep.hpp>
#include <tesela/host/blas.hpp>

#include <algorithm>

namespace tesela::kernels::superfast {
namespace {

/// Computes Y += alpha op(A) X, A m x n in memory, X with k columns.
template <class T>
void add(Op op, index_t m, index_t n, index_t k, T alpha, const T* a, const T* x, index_t ldx, T* y, index_t ldy) {
  if (m == 0 || n == 0) return;
  const bool plain = op == Op::none;
  if (k == 1)
    blas::gemv<T>(op, m, n, alpha, a, m, x, 1, y);
  else
    blas::gemm<T>(op, Op::none, plain ? m : n, k, plain ? n : m, alpha, a, m, x, ldx, 1, y, ldy);
}

/// Returns rows from ... from + count of the node's equations, count x k.
template <class T>
std::vector<T> pick(const Node<const T>& node, index_t from, index_t count, index_t k, const std::vector<T>& x) {
  std::vector<T> rows(at(count * k));
  for (index_t j = 0; j < k; ++j)
    for (index_t i = 0; i < count; ++i)
      rows[at(i + j * count)] = x[at(static_cast<index_t>(node.equations()[from + i]) + j * node.m)];
  return rows;
}

}  // namespace

template <class T>
Message<T> forward(const Node<const T>& node, index_t k, const std::vector<T>& b, const std::vector<T>& y, T* z) {
  const index_t r = node.r, gone = node.gone();
  Message<T> to{pick(node, 0, r, k, b), pick(node, 0, r, k, y)};
  if (gone == 0) return to;
  std::vector<T> others = pick(node, r, gone, k, b);
  const std::vector<T> effects = pick(node, r, gone, k, y);
  add<T>(Op::transpose, r, gone, k, -1, node.interpolation(), to.b.data(), r, others.data(), gone);
  add<T>(Op::none, r, gone, k, 1, node.interpolation(), effects.data(), gone, to.y.data(), r);
  std::fill_n(z, gone * k, T(0));
  add<T>(Op::none, gone, gone, k, 1, node.inverse(), others.data(), gone, z, gone);
  add<T>(Op::transpose, gone, r, k, -1, node.forward(), z, gone, to.b.data(), r);
  add<T>(Op::transpose, gone, r, k, 1, node.forward() + gone * r, z, gone, to.y.data(), r);
  return to;
}

template <class T>
void join(const Node<const T>& node, index_t k, const Message<T>& first, const Message<T>& second, std::vector<T>& b,
          std::vector<T>& y) {
  const index_t p = node.first, q = node.second, m = node.m;
  b.resize(at(m * k));
  y.resize(at(m * k));
  for (index_t j = 0; j < k; ++j) {
    std::copy_n(first.b.data() + j * p, p, b.data() + j * m);
    std::copy_n(first.y.data() + j * p, p, y.data() + j * m);
    std::copy_n(second.b.data() + j * q, q, b.data() + p + j * m);
    std::copy_n(second.y.data() + j * q, q, y.data() + p + j * m);
  }
  add<T>(Op::none, p, q, k, -1, node.coupling(), second.y.data(), q, b.data(), m);
  add<T>(Op::transpose, p, q, k, -1, node.coupling(), first.y.data(), p, b.data() + p, m);
}

template <class T>
std::vector<T> backward(const Node<const T>& node, index_t k, const T* z, const T* remaining, index_t ld) {
  const index_t m = node.m, r = node.r, gone = node.gone();
  std::vector<T> x(at(m * k));
  for (index_t j = 0; j < k; ++j) {
    std::copy_n(z + j * gone, gone, x.data() + j * m);
    std::copy_n(remaining + j * ld, r, x.data() + gone + j * m);
  }
  add<T>(Op::none, gone, r, k, -1, node.backward(), remaining, ld, x.data(), m);
  for (index_t i = gone; i-- > 0;) {
    const auto other = static_cast<index_t>(node.swaps()[i]);
    for (index_t j = 0; other != i && j < k; ++j) std::swap(x[at(i + j * m)], x[at(other + j * m)]);
  }
  return x;
}

TESELA_FUNCTIONS_FOR_REALS(forward, join, backward)

}  // namespace tesela::kernels::superfast
