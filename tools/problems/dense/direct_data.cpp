#include "tools/problems/dense/direct_data.hpp"

#include "tools/checks/factor_error.hpp"
#include <tesela/tiles/filled.hpp>
#include <tesela/tiles/generator.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <utility>

namespace tesela::bench {

template <class T>
DirectData<T>::DirectData(Runtime& runtime, const DirectCase& what) : runtime_(&runtime), what_(what) {
  const index_t n = what.n;
  const Generator<T> random{Pattern::uniform, T(0), n, what.seed, n};
  const bool symmetric = what.kind == DirectKind::cholesky;
  const double shift = symmetric                     ? 2 * std::sqrt(static_cast<double>(n)) + 1
                       : what.kind == DirectKind::lu ? 0
                                                     : static_cast<double>(n);
  original_ = filled<T>({n, n}, [&](index_t i, index_t j) {
    const T element = symmetric ? random(std::min(i, j), std::max(i, j)) : random(i, j);
    return i == j ? element + static_cast<T>(shift) : element;
  });
  if (!what.on_device)
    work_ = std::make_unique<HostBuffer>(runtime, static_cast<std::size_t>(original_.size()) * sizeof(T));
}

template <class T>
void DirectData<T>::restore() const {
  std::memcpy(a(), original_.data(), static_cast<std::size_t>(original_.size()) * sizeof(T));
}

template <class T>
double DirectData<T>::check(const std::string& peer, const HostMatrix<T>& factors,
                            const std::vector<index_t>& rows) const {
  const bool cholesky = what_.kind == DirectKind::cholesky;
  const FactorError error = cholesky ? cholesky_error(original_, factors) : lu_error<T>(original_, factors, rows);
  growth_ = error.growth;
  const double ratio = error.backward / factor_bound<T>(what_.n, !cholesky);
  if (!(ratio <= 1))
    throw WrongResult(
        fmt::format("bench: {}: the backward error {:.3g} is {:.3g} times its bound", peer, error.backward, ratio));
  return ratio;
}

std::vector<index_t> rows_of(index_t n, const std::vector<int>& swaps) {
  std::vector<index_t> rows(static_cast<std::size_t>(n));
  std::iota(rows.begin(), rows.end(), index_t{0});
  for (std::size_t i = 0; i < swaps.size(); ++i) std::swap(rows[i], rows[static_cast<std::size_t>(swaps[i] - 1)]);
  return rows;
}

template class DirectData<float>;
template class DirectData<double>;

}  // namespace tesela::bench
