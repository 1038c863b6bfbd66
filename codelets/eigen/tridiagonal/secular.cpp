#include <tesela/codelets/eigen/internal/secular_tiles.hpp>
#include <tesela/codelets/eigen/tridiagonal/secular.hpp>

namespace tesela::kernels {

using namespace secular;

template <class T>
void SecularRoots<T>::cpu(const Args& args, In<T> poles, Out<T> roots) {
  roots_of(poles, args.rho, args.first, roots);
}

template <class T>
void SecularWeights<T>::cpu(const Args& args, In<T> poles, Out<T> weights, Scratch<T>, std::span<const In<T>> roots) {
  weights_of(poles, args.first, weights, roots);
}

template <class T>
void SecularVectors<T>::cpu(const Args& args, In<T> poles, In<index_t> order, In<T> roots, Out<T> vectors, Scratch<T>,
                            std::span<const In<T>> weights) {
  const OrderedPoles<T> of(poles, order, weights);
  find_vectors(VectorBatch<T>{poles.rows, of.d.data(), of.weights.data(), &roots(args.first, 0), &roots(args.first, 1),
                              args.count, vectors});
}

template <class T>
void SecularRows<T>::cpu(const Args& args, In<T> poles, In<index_t> order, In<T> roots, In<T> upper, In<T> lower,
                         Out<T> new_upper, Out<T> new_lower, Scratch<T>, std::span<const In<T>> weights) {
  const OrderedPoles<T> of(poles, order, weights);
  std::vector<T> first(of.d.size(), T(0)), last(of.d.size(), T(0));
  for (index_t j = 0; j < args.upper; ++j) first[static_cast<std::size_t>(j)] = upper(0, j);
  for (index_t j = 0; j < args.lower; ++j) last[static_cast<std::size_t>(poles.rows - args.lower + j)] = lower(0, j);
  find_rows(RowBatch<T>{poles.rows, of.d.data(), of.weights.data(), first.data(), last.data(), &roots(0, 0),
                        &roots(0, 1), new_upper, new_lower});
}

TESELA_STRUCTS_FOR_REALS(SecularRoots, SecularWeights, SecularVectors, SecularRows)

}  // namespace tesela::kernels
