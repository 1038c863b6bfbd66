#include <tesela/codelets/eigen/internal/secular_loops.hpp>

#include <algorithm>
#include <cmath>

#define HWY_TARGET_INCLUDE "tesela/codelets/eigen/internal/secular_loops.cpp"
#include <tesela/codelets/eigen/internal/lanes_inl.hpp>
// Must follow the vectors.
#include <tesela/codelets/eigen/internal/secular_root_inl.hpp>

HWY_BEFORE_NAMESPACE();
namespace tesela::kernels::secular::HWY_NAMESPACE {
namespace {

using namespace eigen::HWY_NAMESPACE;

/// Returns difference() of each lane.
template <Equation equation, class V>
HWY_INLINE V differences(V p, V q) {
  if constexpr (equation == Equation::eigenvalue)
    return hn::Sub(p, q);
  else
    return hn::Mul(hn::Sub(p, q), hn::Add(p, q));
}

/// Returns the sums over poles begin … end - 1 at a distance from `pole`.
template <Equation equation, class T>
HWY_INLINE Sum<T> sum_terms(index_t begin, index_t end, const T* poles, const T* squares, T pole, T distance) {
  constexpr index_t w = lanes<T>;
  const Vec<T> one = all(T(1)), at = all(pole), off = all(distance);
  const auto inverse_of = [&](index_t i) HWY_ATTR {
    return hn::Div(one, hn::Sub(differences<equation>(load(poles + i), at), off));
  };
  Vec<T> value0 = zeros<T>(), value1 = zeros<T>(), slope0 = zeros<T>(), slope1 = zeros<T>();
  index_t i = begin;
  for (; i + 2 * w <= end; i += 2 * w) {
    const Vec<T> inverse0 = inverse_of(i), inverse1 = inverse_of(i + w), term0 = hn::Mul(load(squares + i), inverse0),
                 term1 = hn::Mul(load(squares + i + w), inverse1);
    value0 = hn::Add(value0, term0), value1 = hn::Add(value1, term1);
    slope0 = hn::MulAdd(term0, inverse0, slope0), slope1 = hn::MulAdd(term1, inverse1, slope1);
  }
  for (; i < end; i += w) {
    const auto inside = hn::FirstN(Tag<T>(), static_cast<std::size_t>(end - i));
    const Vec<T> inverse = hn::IfThenElseZero(inside, inverse_of(i)), term = hn::Mul(load(squares + i), inverse);
    value0 = hn::Add(value0, term);
    slope0 = hn::MulAdd(term, inverse, slope0);
  }
  return {sum<T>(hn::Add(value0, value1)), sum<T>(hn::Add(slope0, slope1))};
}

/// Poles of a RootSearch.
template <class T, class Batch>
struct Poles {
  const Batch& batch;
  HWY_INLINE T d(index_t i) const { return batch.poles[i]; }
  HWY_INLINE T square(index_t i) const { return batch.squares[i]; }
  HWY_INLINE T weight() const {
    T weight = 0;
    for (index_t i = 0; i < batch.k; ++i) weight += batch.squares[i];
    return weight;
  }
  HWY_INLINE Sum<T> sum(index_t begin, index_t end, T pole, T distance) const {
    return sum_terms<Batch::of>(begin, end, batch.poles, batch.squares, pole, distance);
  }
};

template <class Batch>
void find_roots(const Batch& batch) {
  using T = typename Batch::Number;
  RootSearch<T, Poles<T, Batch>, Batch::of> search(batch.k, batch.rho, Poles<T, Batch>{batch});
  for (index_t j = 0; j < batch.roots.rows; ++j) {
    const Root<T> root = search(batch.first + j);
    batch.roots(j, 0) = root.pole;
    batch.roots(j, 1) = root.distance;
    batch.roots(j, 2) = static_cast<T>(root.iterations);
  }
}

/// Computes one pole per lane.
template <class Batch>
void find_weights(const Batch& b) {
  using T = typename Batch::Number;
  constexpr Equation equation = Batch::of;
  constexpr index_t w = lanes<T>;
  const auto to = [&](index_t j, Vec<T> d) HWY_ATTR { return differences<equation>(all(b.d[j]), d); };
  const auto over = [&](index_t j, Vec<T> d)
                        HWY_ATTR { return hn::Add(differences<equation>(all(b.pole[j]), d), all(b.distance[j])); };
  for (index_t begin = b.first; begin < b.first + b.count; begin += w) {
    HWY_ALIGN T poles[w], squares[w];
    for (index_t l = 0; l < w; ++l) poles[l] = b.d[std::min(begin + l, b.k - 1)];
    const Vec<T> d = load(poles);
    Vec<T> product = all(T(1));
    const index_t end = std::min(begin + w, b.k);
    for (index_t j = 0; j < begin; ++j) product = hn::Mul(product, hn::Div(over(j, d), to(j, d)));
    store(squares, product);
    for (index_t j = begin; j < end; ++j)
      for (index_t l = 0; l < end - begin; ++l) {
        const T above = difference<equation>(b.pole[j], poles[l]) + b.distance[j];
        const index_t next = j < begin + l ? j : j + 1;
        squares[l] *= next < b.k ? above / difference<equation>(b.d[next], poles[l]) : above;
      }
    product = load(squares);
    for (index_t j = end; j + 1 < b.k; ++j) product = hn::Mul(product, hn::Div(over(j, d), to(j + 1, d)));
    if (end < b.k) product = hn::Mul(product, over(b.k - 1, d));
    store(squares, product);
    for (index_t i = begin; i < std::min(begin + w, b.first + b.count); ++i)
      b.weights[i - b.first] = std::copysign(std::sqrt(squares[i - begin]), b.z[i]);
  }
}

/// Computes the unit vector of root j. Returns the factor that made it a unit vector.
template <Equation equation, class Batch, class T>
HWY_INLINE T find_vector(const Batch& b, index_t j, T* column) {
  constexpr index_t w = lanes<T>;
  const T pole = b.pole[j], distance = b.distance[j];
  const Vec<T> at = all(pole), off = all(distance);
  Vec<T> squares = zeros<T>();
  index_t i = 0;
  for (; i + w <= b.k; i += w) {
    const Vec<T> x = hn::Div(load(b.weights + i), hn::Sub(differences<equation>(load(b.d + i), at), off));
    store(column + i, x);
    squares = hn::MulAdd(x, x, squares);
  }
  T square = sum<T>(squares);
  for (; i < b.k; ++i) {
    column[i] = b.weights[i] / (difference<equation>(b.d[i], pole) - distance);
    square += column[i] * column[i];
  }
  const T scale = 1 / std::sqrt(square);
  for (i = 0; i < b.k; ++i) column[i] *= scale;
  return scale;
}

template <class T>
void find_vectors(const VectorBatch<T>& b) {
  for (index_t j = 0; j < b.count; ++j) find_vector<Equation::eigenvalue>(b, j, &b.vectors(0, j));
}

template <class T>
void find_vector_pairs(const VectorPairBatch<T>& b) {
  constexpr index_t w = lanes<T>;
  for (index_t j = 0; j < b.count; ++j) {
    T *const right = &b.right(0, j), *const left = &b.left(0, j);
    const T factor = find_vector<Equation::singular_value>(b, j, right);
    Vec<T> squares = zeros<T>();
    index_t i = 0;
    for (; i + w <= b.k; i += w) {
      const Vec<T> x = hn::Mul(load(b.d + i), load(right + i));
      store(left + i, x);
      squares = hn::MulAdd(x, x, squares);
    }
    T square = sum<T>(squares) + factor * factor;  // the pole 0 has added 0
    for (; i < b.k; ++i) {
      left[i] = b.d[i] * right[i];
      square += left[i] * left[i];
    }
    left[b.zero] = -factor;
    const T scale = 1 / std::sqrt(square);
    for (i = 0; i < b.k; ++i) left[i] *= scale;
  }
}

template <class T>
void find_rows(const RowBatch<T>& b) {
  static_assert(vector_numbers<T> % lanes<T> == 0);
  for (index_t j = 0; j < b.new_upper.cols; ++j) {
    const Vec<T> at = all(b.pole[j]), off = all(b.distance[j]);
    Vec<T> squares = zeros<T>(), uppers = zeros<T>(), lowers = zeros<T>();
    for (index_t i = 0; i < b.k; i += lanes<T>) {
      const Vec<T> x = hn::Div(load(b.weights + i), hn::Sub(hn::Sub(load(b.d + i), at), off));
      squares = hn::MulAdd(x, x, squares);
      uppers = hn::MulAdd(x, load(b.upper + i), uppers);
      lowers = hn::MulAdd(x, load(b.lower + i), lowers);
    }
    const T scale = 1 / std::sqrt(sum<T>(squares));
    b.new_upper(0, j) = scale * sum<T>(uppers);
    b.new_lower(0, j) = scale * sum<T>(lowers);
  }
}

}  // namespace
}  // namespace tesela::kernels::secular::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tesela::kernels::secular {

template <class T, Equation equation>
void find_roots(const RootBatch<T, equation>& batch) {
  using Batch = RootBatch<T, equation>;
  TESELA_BEST_TARGET(find_roots<Batch>)(batch);
}
template <class T, Equation equation>
void find_weights(const WeightBatch<T, equation>& batch) {
  using Batch = WeightBatch<T, equation>;
  TESELA_BEST_TARGET(find_weights<Batch>)(batch);
}
template <class T>
void find_vectors(const VectorBatch<T>& batch) {
  TESELA_BEST_TARGET(find_vectors<T>)(batch);
}
template <class T>
void find_vector_pairs(const VectorPairBatch<T>& batch) {
  TESELA_BEST_TARGET(find_vector_pairs<T>)(batch);
}
template <class T>
void find_rows(const RowBatch<T>& batch) {
  TESELA_BEST_TARGET(find_rows<T>)(batch);
}

template void find_roots(const RootBatch<float>&);
template void find_roots(const RootBatch<double>&);
template void find_roots(const RootBatch<double, Equation::singular_value>&);
template void find_weights(const WeightBatch<float>&);
template void find_weights(const WeightBatch<double>&);
template void find_weights(const WeightBatch<double, Equation::singular_value>&);
template void find_vectors(const VectorBatch<float>&);
template void find_vectors(const VectorBatch<double>&);
template void find_vector_pairs(const VectorPairBatch<double>&);
template void find_rows(const RowBatch<float>&);
template void find_rows(const RowBatch<double>&);

}  // namespace tesela::kernels::secular
#endif
