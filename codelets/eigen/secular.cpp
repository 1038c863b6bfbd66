#include <tesela/codelets/eigen/internal/secular_loops.hpp>
#include <tesela/codelets/eigen/secular.hpp>

#include <limits>
#include <span>
#include <vector>

namespace tesela::kernels {
namespace secular {
namespace {

/// Returns column `column` of tiles one below the other.
template <class T>
std::vector<T> stacked(std::span<const In<T>> tiles, index_t column) {
  std::vector<T> all;
  for (const In<T>& tile : tiles) all.insert(all.end(), &tile(0, column), &tile(0, column) + tile.rows);
  return all;
}

/// Poles and weights in the order of the rows, padded to whole vectors by weights of zero at poles far from all roots.
template <class T>
struct OrderedPoles {
  std::vector<T> d, weights;
  OrderedPoles(const In<T>& poles, const In<index_t>& order, std::span<const In<T>> tiles) {
    const std::vector<T> all = stacked(tiles, 0);
    const auto padded = static_cast<std::size_t>(ceil_div(poles.rows, vector_numbers<T>) * vector_numbers<T>);
    d.assign(padded, std::numeric_limits<T>::max());
    weights.assign(padded, T(0));
    for (index_t r = 0; r < poles.rows; ++r) {
      const index_t i = order.data[r];
      d[static_cast<std::size_t>(r)] = poles(i, 0);
      weights[static_cast<std::size_t>(r)] = all[static_cast<std::size_t>(i)];
    }
  }
};

}  // namespace
}  // namespace secular

using namespace secular;

template <class T>
void SecularRoots<T>::cpu(const Args& args, In<T> poles, Out<T> roots) {
  std::vector<T> d(static_cast<std::size_t>(poles.rows + vector_numbers<T>)), squares(d.size());
  for (index_t i = 0; i < poles.rows; ++i) {
    d[static_cast<std::size_t>(i)] = poles(i, 0);
    squares[static_cast<std::size_t>(i)] = poles(i, 1) * poles(i, 1);
  }
  find_roots(RootBatch<T>{poles.rows, d.data(), squares.data(), args.rho, args.first, roots});
}

template <class T>
void SecularWeights<T>::cpu(const Args& args, In<T> poles, Out<T> weights, Scratch<T>, std::span<const In<T>> roots) {
  const std::vector<T> pole = stacked(roots, 0), distance = stacked(roots, 1);
  find_weights(WeightBatch<T>{poles.rows, &poles(0, 0), &poles(0, 1), pole.data(), distance.data(), args.first,
                              weights.rows, weights.data});
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

template struct SecularRoots<float>;
template struct SecularRoots<double>;
template struct SecularWeights<float>;
template struct SecularWeights<double>;
template struct SecularVectors<float>;
template struct SecularVectors<double>;
template struct SecularRows<float>;
template struct SecularRows<double>;

}  // namespace tesela::kernels
