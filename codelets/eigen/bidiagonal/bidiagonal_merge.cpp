#include <tesela/codelets/eigen/bidiagonal/bidiagonal_merge.hpp>
#include <tesela/codelets/eigen/internal/secular_tiles.hpp>
#include <tesela/host/lapack/lapack_svd.hpp>

#include <algorithm>
#include <utility>

namespace tesela::kernels {

using namespace secular;

void BidiagonalLeaf::cpu(const Args& args, In<double> b, Out<double> values, Out<double> left, Out<double> right,
                         InOut<int> info) {
  const index_t n = b.rows;
  for (const Block<double>* x : {&left, &right})
    for (index_t j = 0; j < n + args.extra; ++j) {
      std::fill_n(&(*x)(0, j), n + args.extra, 0.0);
      (*x)(j, j) = 1;
    }
  std::vector<double> e(&b(0, 1), &b(0, 1) + n);
  std::copy_n(&b(0, 0), n, values.data);
  const int failed = lapack::lasd0(args.extra == 1, n, values.data, e.data(), left.data, left.ld, right.data, right.ld);
  for (index_t j = 0; j < n + args.extra; ++j)
    for (index_t i = 0; i < j; ++i) std::swap(right(i, j), right(j, i));
  if (failed != 0 && *info.data == 0) *info.data = std::max(1, failed);
}

void BidiagonalValues::cpu(const Args&, In<double> b, Out<double> values, InOut<int> info) {
  std::vector<double> e(&b(0, 1), &b(0, 1) + b.rows);
  std::copy_n(&b(0, 0), b.rows, values.data);
  const int failed = lapack::lasq1(b.rows, values.data, e.data());
  if (failed != 0 && *info.data == 0) *info.data = failed;
}

void SingularRoots::cpu(const Args& args, In<double> poles, Out<double> roots) {
  roots_of<double, Equation::singular_value>(poles, 1, args.first, roots);
}

void SingularWeights::cpu(const Args& args, In<double> poles, Out<double> weights, Scratch<double>,
                          std::span<const In<double>> roots) {
  weights_of<double, Equation::singular_value>(poles, args.first, weights, roots);
}

void SingularVectorPairs::cpu(const Args&, In<double> poles, In<index_t> order, In<double> roots, Out<double> right,
                              Out<double> left, Scratch<double>, std::span<const In<double>> weights) {
  const OrderedPoles<double> of(poles, order, weights);
  const index_t zero = std::find(order.data, order.data + poles.rows, 0) - order.data;
  find_vector_pairs(VectorPairBatch<double>{poles.rows, zero, of.d.data(), of.weights.data(), &roots(0, 0),
                                            &roots(0, 1), roots.rows, right, left});
}

}  // namespace tesela::kernels
