#include <tesela/codelets/eigen/internal/lanes.hpp>
#include <tesela/codelets/eigen/internal/secular_root.hpp>
#include <tesela/codelets/eigen/secular.hpp>
#include <tesela/codelets/support/internal/multiversion.hpp>

#include <cmath>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

namespace tesela::kernels {
namespace secular {
namespace {

/// As RootSearch wants them.
template <class T>
struct Poles {
  index_t k;
  const T *poles, *squares;
  TESELA_INLINE T d(index_t i) const { return poles[i]; }
  TESELA_INLINE T square(index_t i) const { return squares[i]; }
  TESELA_INLINE T weight() const {
    T weight = 0;
    for (index_t i = 0; i < k; ++i) weight += squares[i];
    return weight;
  }
  TESELA_INLINE Sum<T> sum(index_t begin, index_t end, T pole, T distance) const {
    constexpr int lanes = LanesOf<T>::count, groups = 2;
    Lanes<T> values[groups]{}, slopes[groups]{};
    index_t i = begin;
    for (; i + groups * lanes <= end; i += groups * lanes)
      for (int g = 0; g < groups; ++g) {
        const Lanes<T> inverse = T(1) / ((LoadLanes<T>(poles + i + g * lanes).v - pole) - distance),
                       term = LoadLanes<T>(squares + i + g * lanes).v * inverse;
        values[g] += term;
        slopes[g] += term * inverse;
      }
    Sum<T> sum{sum_of_lanes<T>(values[0] + values[1]), sum_of_lanes<T>(slopes[0] + slopes[1])};
    for (; i < end; ++i) {
      const T inverse = 1 / ((poles[i] - pole) - distance), term = squares[i] * inverse;
      sum.value += term;
      sum.slope += term * inverse;
    }
    return sum;
  }
};

template <class T>
struct RootBatch {
  Poles<T> poles;
  T rho;
  index_t first;
  Block<T> roots;
};
template <class T>
TESELA_INLINE void find(const RootBatch<T>& batch) {
  RootSearch<T, Poles<T>> search(batch.poles.k, batch.rho, batch.poles);
  for (index_t j = 0; j < batch.roots.rows; ++j) {
    const Root<T> root = search(batch.first + j);
    batch.roots(j, 0) = root.pole;
    batch.roots(j, 1) = root.distance;
    batch.roots(j, 2) = static_cast<T>(root.iterations);
  }
}

/// All roots side by side, so that one loop runs over them: k poles, k distances.
template <class T>
struct WeightBatch {
  index_t k;
  const T *d, *z, *pole, *distance;
  index_t first, count;
  T* weights;
};
/// The square of weight i is a product of fractions between 0 and 1, (root j - d(i)) / (the pole next to the root, away
/// from d(i), - d(i)), and of last root - d(i): it cannot overflow, and no part is less than the whole. A lane a pole.
template <class T>
TESELA_INLINE void weigh(const WeightBatch<T>& w) {
  constexpr index_t lanes = LanesOf<T>::count;
  for (index_t begin = w.first; begin < w.first + w.count; begin += lanes) {
    Lanes<T> d, product;
    for (index_t l = 0; l < lanes; ++l) {
      d[l] = w.d[std::min(begin + l, w.k - 1)];
      product[l] = 1;
    }
    const index_t end = std::min(begin + lanes, w.k);
    for (index_t j = 0; j < begin; ++j) product *= ((w.pole[j] - d) + w.distance[j]) / (w.d[j] - d);
    for (index_t j = begin; j < end; ++j)
      for (index_t l = 0; l < end - begin; ++l) {
        const T over = (w.pole[j] - d[l]) + w.distance[j];
        const index_t next = j < begin + l ? j : j + 1;
        product[l] *= next < w.k ? over / (w.d[next] - d[l]) : over;
      }
    for (index_t j = end; j + 1 < w.k; ++j) product *= ((w.pole[j] - d) + w.distance[j]) / (w.d[j + 1] - d);
    if (end < w.k) product *= (w.pole[w.k - 1] - d) + w.distance[w.k - 1];
    for (index_t i = begin; i < std::min(begin + lanes, w.first + w.count); ++i)
      w.weights[i - w.first] = std::copysign(std::sqrt(product[i - begin]), w.z[i]);
  }
}

template <class T>
struct VectorBatch {
  index_t k;
  const T *d, *weights;  // in the order of the rows
  const T *pole, *distance;
  index_t count;
  Block<T> vectors;
};
template <class T>
TESELA_INLINE void vectors_of(const VectorBatch<T>& v) {
  constexpr index_t lanes = LanesOf<T>::count;
  for (index_t j = 0; j < v.count; ++j) {
    T* const column = &v.vectors(0, j);
    const T pole = v.pole[j], distance = v.distance[j];
    Lanes<T> squares{};
    index_t i = 0;
    for (; i + lanes <= v.k; i += lanes) {
      const Lanes<T> x = LoadLanes<T>(v.weights + i).v / ((LoadLanes<T>(v.d + i).v - pole) - distance);
      std::memcpy(column + i, &x, sizeof x);
      squares += x * x;
    }
    T square = sum_of_lanes<T>(squares);
    for (; i < v.k; ++i) {
      column[i] = v.weights[i] / ((v.d[i] - pole) - distance);
      square += column[i] * column[i];
    }
    const T scale = 1 / std::sqrt(square);
    for (i = 0; i < v.k; ++i) column[i] *= scale;
  }
}

/// All padded to whole lanes, with weights of zero.
template <class T>
struct RowBatch {
  index_t k;
  const T *d, *weights, *upper, *lower;  // in the order of the rows
  const T *pole, *distance;
  Block<T> new_upper, new_lower;
};
template <class T>
TESELA_INLINE void rows_of(const RowBatch<T>& b) {
  constexpr index_t lanes = LanesOf<T>::count;
  for (index_t j = 0; j < b.new_upper.cols; ++j) {
    const T pole = b.pole[j], distance = b.distance[j];
    Lanes<T> squares{}, uppers{}, lowers{};
    for (index_t i = 0; i < b.k; i += lanes) {
      const Lanes<T> x = LoadLanes<T>(b.weights + i).v / ((LoadLanes<T>(b.d + i).v - pole) - distance);
      squares += x * x;
      uppers += x * LoadLanes<T>(b.upper + i).v;
      lowers += x * LoadLanes<T>(b.lower + i).v;
    }
    const T scale = 1 / std::sqrt(sum_of_lanes<T>(squares));
    b.new_upper(0, j) = scale * sum_of_lanes<T>(uppers);
    b.new_lower(0, j) = scale * sum_of_lanes<T>(lowers);
  }
}

/// target_clones takes no template.
#define TESELA_SECULAR(T)                                                          \
  TESELA_MULTIVERSION void run(const RootBatch<T>& batch) { find(batch); }         \
  TESELA_MULTIVERSION void run(const WeightBatch<T>& batch) { weigh(batch); }      \
  TESELA_MULTIVERSION void run(const VectorBatch<T>& batch) { vectors_of(batch); } \
  TESELA_MULTIVERSION void run(const RowBatch<T>& batch) { rows_of(batch); }
TESELA_SECULAR(float)
TESELA_SECULAR(double)
#undef TESELA_SECULAR

/// Column `column` of tiles one below the other.
template <class T>
std::vector<T> stacked(std::span<const In<T>> tiles, index_t column) {
  std::vector<T> all;
  for (const In<T>& tile : tiles) all.insert(all.end(), &tile(0, column), &tile(0, column) + tile.rows);
  return all;
}

/// Poles and weights in the order of the rows; up to whole lanes weights are zero, and poles no root's.
template <class T>
struct OrderedPoles {
  std::vector<T> d, weights;
  OrderedPoles(const In<T>& poles, const In<index_t>& order, std::span<const In<T>> tiles) {
    const std::vector<T> all = stacked(tiles, 0);
    constexpr index_t lanes = LanesOf<T>::count;
    const auto padded = static_cast<std::size_t>(ceil_div(poles.rows, lanes) * lanes);
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
  std::vector<T> squares(static_cast<std::size_t>(poles.rows));
  for (index_t i = 0; i < poles.rows; ++i) squares[static_cast<std::size_t>(i)] = poles(i, 1) * poles(i, 1);
  run(RootBatch<T>{{poles.rows, &poles(0, 0), squares.data()}, args.rho, args.first, roots});
}

template <class T>
void SecularWeights<T>::cpu(const Args& args, In<T> poles, Out<T> weights, Scratch<T>, std::span<const In<T>> roots) {
  const std::vector<T> pole = stacked(roots, 0), distance = stacked(roots, 1);
  run(WeightBatch<T>{poles.rows, &poles(0, 0), &poles(0, 1), pole.data(), distance.data(), args.first, weights.rows,
                     weights.data});
}

template <class T>
void SecularVectors<T>::cpu(const Args& args, In<T> poles, In<index_t> order, In<T> roots, Out<T> vectors, Scratch<T>,
                            std::span<const In<T>> weights) {
  const OrderedPoles<T> of(poles, order, weights);
  run(VectorBatch<T>{poles.rows, of.d.data(), of.weights.data(), &roots(args.first, 0), &roots(args.first, 1),
                     args.count, vectors});
}

template <class T>
void SecularRows<T>::cpu(const Args& args, In<T> poles, In<index_t> order, In<T> roots, In<T> upper, In<T> lower,
                         Out<T> new_upper, Out<T> new_lower, Scratch<T>, std::span<const In<T>> weights) {
  const OrderedPoles<T> of(poles, order, weights);
  std::vector<T> first(of.d.size(), T(0)), last(of.d.size(), T(0));
  for (index_t j = 0; j < args.upper; ++j) first[static_cast<std::size_t>(j)] = upper(0, j);
  for (index_t j = 0; j < args.lower; ++j) last[static_cast<std::size_t>(poles.rows - args.lower + j)] = lower(0, j);
  run(RowBatch<T>{poles.rows, of.d.data(), of.weights.data(), first.data(), last.data(), &roots(0, 0), &roots(0, 1),
                  new_upper, new_lower});
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
