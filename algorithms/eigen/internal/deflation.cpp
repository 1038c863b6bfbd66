#include <tesela/algorithms/eigen/internal/deflation.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

namespace tesela::detail {
namespace {

template <class T>
struct Rotation {
  std::size_t done, going_on;  // indices of the deflated and of the remaining sorted pair
  T c, s;
};

/// Returns the columns that a half copies: column of pair p to position[p], -1 if the pair has no column there.
template <class T>
ColumnPlan<T> plan_of(const std::vector<DeflationPair<T>>& pairs, const std::vector<index_t>& position, index_t columns,
                      const std::vector<Rotation<T>>& rotations, index_t DeflationPair<T>::*half) {
  ColumnPlan<T> plan;
  plan.sources.assign(static_cast<std::size_t>(columns), -1);
  for (std::size_t p = 0; p < pairs.size(); ++p)
    if (position[p] >= 0) plan.sources[static_cast<std::size_t>(position[p])] = pairs[p].*half;
  for (const Rotation<T>& r : rotations) {
    if (position[r.going_on] < 0) continue;  // both columns are zero here
    plan.pairs.insert(plan.pairs.end(), {position[r.done], position[r.going_on]});
    plan.cosines_and_sines.insert(plan.cosines_and_sines.end(), {r.c, r.s});
  }
  return plan;
}

}  // namespace

template <class T>
std::vector<DeflationPair<T>> sorted_pairs(const MergeHalf<T>& upper, T upper_factor, const MergeHalf<T>& lower,
                                           T lower_factor) {
  using Rows = typename DeflationPair<T>::Rows;
  std::vector<DeflationPair<T>> pairs;
  std::size_t i = 0, j = 0;
  while (i < upper.order.size() || j < lower.order.size()) {
    const auto p = i < upper.order.size() ? static_cast<std::size_t>(upper.order[i]) : 0,
               q = j < lower.order.size() ? static_cast<std::size_t>(lower.order[j]) : 0;
    if (j == lower.order.size() || (i < upper.order.size() && upper.values[p] <= lower.values[q]))
      pairs.push_back({upper.values[p], upper_factor * upper.row[p], Rows::upper, static_cast<index_t>(p), -1}), ++i;
    else
      pairs.push_back({lower.values[q], lower_factor * lower.row[q], Rows::lower, -1, static_cast<index_t>(q)}), ++j;
  }
  return pairs;
}

template <class T>
Deflation<T> deflate(std::vector<DeflationPair<T>> pairs, T rho, T tolerance, std::size_t fixed) {
  using Pair = DeflationPair<T>;
  using Rows = typename Pair::Rows;
  Deflation<T> result;
  result.rho = rho;
  std::vector<std::size_t> kept, deflated;
  std::vector<Rotation<T>> rotations;
  constexpr std::size_t none = std::numeric_limits<std::size_t>::max();
  std::size_t last = none;  // the next pair to keep, unless its neighbour is too close
  for (std::size_t i = 0; i < fixed; ++i) kept.push_back(i);
  for (std::size_t i = fixed; i < pairs.size(); ++i) {
    if (result.rho * std::abs(pairs[i].z) <= tolerance) {
      deflated.push_back(i);
      continue;
    }
    if (last != none) {
      Pair &a = pairs[last], &b = pairs[i];
      const T length = std::hypot(a.z, b.z), c = b.z / length, s = -a.z / length;
      if (std::abs((b.value - a.value) * c * s) <= tolerance) {
        rotations.push_back({last, i, c, s});
        if (a.rows != b.rows) b.rows = Rows::both;
        const T va = a.value, vb = b.value;
        a.value = va * c * c + vb * s * s;
        b.value = va * s * s + vb * c * c;
        a.z = 0;
        b.z = length;
        deflated.push_back(last);
      } else {
        kept.push_back(last);
      }
    }
    last = i;
  }
  if (last != none) kept.push_back(last);

  std::vector<index_t> in_top(pairs.size(), -1), in_bottom(pairs.size(), -1);
  for (const Rows rows : {Rows::upper, Rows::both, Rows::lower})
    for (std::size_t k = 0; k < kept.size(); ++k) {
      if (pairs[kept[k]].rows != rows) continue;
      result.order.push_back(static_cast<index_t>(k));
      if (rows != Rows::lower) in_top[kept[k]] = result.upper++;
      if (rows != Rows::upper) in_bottom[kept[k]] = result.lower++;
    }
  for (const std::size_t k : kept) {
    result.poles.push_back(pairs[k].value);
    result.z.push_back(pairs[k].z);
  }
  for (const std::size_t p : deflated) {
    const auto number = static_cast<index_t>(result.deflated.size());
    in_top[p] = result.upper + number;
    in_bottom[p] = result.lower + number;
    result.deflated.push_back(pairs[p].value);
  }
  const auto standing = static_cast<index_t>(deflated.size());
  result.top = plan_of(pairs, in_top, result.upper + standing, rotations, &Pair::upper);
  result.bottom = plan_of(pairs, in_bottom, result.lower + standing, rotations, &Pair::lower);
  return result;
}

template <class T>
Deflation<T> deflate(const MergeHalf<T>& upper, const MergeHalf<T>& lower, T e) {
  const T half = std::numbers::sqrt2_v<T> / 2;
  std::vector<DeflationPair<T>> pairs = sorted_pairs(upper, half, lower, std::copysign(half, e));
  T largest = 0;
  for (const DeflationPair<T>& p : pairs) largest = std::max({largest, std::abs(p.value), std::abs(p.z)});
  return deflate(std::move(pairs), 2 * std::abs(e), 4 * std::numeric_limits<T>::epsilon() * largest);
}

template struct Deflation<float>;
template struct Deflation<double>;
template Deflation<float> deflate(const MergeHalf<float>&, const MergeHalf<float>&, float);
template Deflation<double> deflate(const MergeHalf<double>&, const MergeHalf<double>&, double);
template Deflation<double> deflate(std::vector<DeflationPair<double>>, double, double, std::size_t);
template std::vector<DeflationPair<double>> sorted_pairs(const MergeHalf<double>&, double, const MergeHalf<double>&,
                                                         double);

}  // namespace tesela::detail
