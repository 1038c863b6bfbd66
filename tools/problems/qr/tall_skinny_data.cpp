#include "tools/problems/qr/tall_skinny_data.hpp"

#include "tools/peers/harness.hpp"
#include <tesela/host/blas.hpp>
#include <tesela/tiles/parallel_for.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace tesela::bench {
namespace {

/// Returns G = A^T A, summed in a fixed order from one share of A's blocks of rows per core; writes A to `a` if not
/// null.
template <class T>
HostMatrix<double> generate_with_gram(const TallSkinnyCase& what, const Generator<T>& element, T* a) {
  constexpr index_t block_rows = 4096;
  const index_t m = what.m, n = what.n, blocks = ceil_div(m, block_rows), shares = all_cores();
  std::vector<HostMatrix<double>> sums(static_cast<std::size_t>(shares));
  parallel_for(shares, [&](index_t share) {
    HostMatrix<double>& sum = sums[static_cast<std::size_t>(share)] = HostMatrix<double>::zeros(n, n);
    HostMatrix<double> block(block_rows, n);
    for (index_t b = share; b < blocks; b += shares) {
      const index_t first = b * block_rows, rows = std::min(block_rows, m - first);
      for (index_t j = 0; j < n; ++j)
        for (index_t i = 0; i < rows; ++i) {
          const T x = element(first + i, j);
          block(i, j) = static_cast<double>(x);
          if (a != nullptr) a[first + i + j * m] = x;
        }
      blas::gemm<double>(Op::transpose, Op::none, n, n, rows, 1, block.data(), block_rows, block.data(), block_rows, 1,
                         sum.data(), n);
    }
  });
  for (std::size_t t = 1; t < sums.size(); ++t)
    for (index_t x = 0; x < n * n; ++x) sums[0].data()[x] += sums[t].data()[x];
  return std::move(sums[0]);
}

}  // namespace

template <class T>
TallSkinnyData<T>::TallSkinnyData(Runtime& runtime, const TallSkinnyCase& what) : runtime_(&runtime), what_(what) {
  if (!what.on_device)
    a_ = std::make_unique<HostBuffer>(runtime, static_cast<std::size_t>(what.m * what.n) * sizeof(T));
  const PausedWorkers paused;
  const blas::Threads threads(1);
  gram_ = generate_with_gram(what, generator(), a_ ? static_cast<T*>(a_->data()) : nullptr);
}

template <class T>
double TallSkinnyData<T>::check(const std::string& peer, const HostMatrix<T>& r) const {
  const index_t n = what_.n;
  const double bound = std::is_same_v<T, float> ? 1e-5 : 1e-14 * std::sqrt(static_cast<double>(n));
  double worst = 0;
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i <= j; ++i) {
      double product = 0;
      for (index_t k = 0; k < n; ++k) product += static_cast<double>(r(k, i)) * static_cast<double>(r(k, j));
      const double error = std::abs(product - gram_(i, j)) / std::sqrt(gram_(i, i) * gram_(j, j)) / bound;
      if (!(error <= 1))
        throw WrongResult(
            fmt::format("bench tall-skinny: {}: R'R differs from A'A at ({}, {}) by {:.3g} of the "
                        "columns' norms, {:.3g} times the bound",
                        peer, i, j, error * bound, error));
      worst = std::max(worst, error);
    }
  return worst;
}

TESELA_CLASSES_FOR_REALS(TallSkinnyData)

}  // namespace tesela::bench
