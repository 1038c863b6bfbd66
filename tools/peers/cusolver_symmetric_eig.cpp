#include "tools/peers/cusolver_symmetric_eig.hpp"

#include "tools/checks/eig_error.hpp"

#include <algorithm>
#include <cmath>

namespace tesela {

template <class T>
CusolverSymmetricEig<T>::CusolverSymmetricEig(const HostMatrix<T>& a, bool vectors)
    : a_(&a),
      vectors_(vectors),
      device_(a.rows(), vectors),
      work_(a.rows(), a.cols()),
      values_(static_cast<std::size_t>(a.rows())) {
  for (index_t j = 0; j < a.cols(); ++j)
    for (index_t i = j; i < a.rows(); ++i)
      if (!std::isfinite(a(i, j)) && status_.ok()) status_ = {SymmetricEigStatus::Verdict::not_finite, i, j};
  exponent_ = lower_exponent(a);
}

template <class T>
void CusolverSymmetricEig<T>::prepare() {
  for (index_t j = 0; j < a_->cols(); ++j)
    for (index_t i = j; i < a_->rows(); ++i) work_(i, j) = work_(j, i) = std::ldexp((*a_)(i, j), -exponent_);
}

template <class T>
void CusolverSymmetricEig<T>::solve() {
  if (!status_.ok() || a_->rows() == 0) return;
  device_.upload(work_.data());
  device_.solve(values_.data());
  if (vectors_) device_.download(work_.data(), work_.cols());
}

template <class T>
SymmetricEig<T> CusolverSymmetricEig<T>::result(const SymmetricEigOptions& o, HostMatrix<T>& vectors) {
  SymmetricEig<T> result;
  result.status = status_;
  if (!status_.ok()) return result;
  std::vector<double>& all = result.spectrum;
  for (const T value : values_) all.push_back(std::ldexp(static_cast<double>(value), exponent_));
  if (!all.empty()) result.norm = std::max(std::abs(all.front()), std::abs(all.back()));
  const auto below = [&](double limit) {
    return static_cast<index_t>(std::lower_bound(all.begin(), all.end(), limit) - all.begin());
  };
  const auto n = static_cast<index_t>(all.size());
  IndexRange range = o.positions.value_or(IndexRange{0, n});
  range.begin = std::max(range.begin, below(o.low));
  range.end = std::max(range.begin, std::min(range.end, std::isinf(o.high) ? n : below(o.high)));
  result.first = range.begin;
  result.values.assign(all.begin() + range.begin, all.begin() + range.end);
  if (!vectors_) return result;
  vectors = HostMatrix<T>(n, range.size());
  for (index_t j = 0; j < range.size(); ++j) {
    const T* const x = work_.data() + (range.begin + j) * work_.ld();
    const T largest = n > 0 ? *std::max_element(x, x + n, [](T p, T q) { return std::abs(p) < std::abs(q); }) : T(0);
    std::transform(x, x + n, &vectors(0, j), [&](T v) { return largest < 0 ? -v : v; });
  }
  return result;
}

template class CusolverSymmetricEig<float>;
template class CusolverSymmetricEig<double>;

}  // namespace tesela
