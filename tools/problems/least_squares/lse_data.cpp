#include "tools/problems/least_squares/lse_data.hpp"

#include "tools/checks/lse_error.hpp"
#include <tesela/host/minimum_norm.hpp>
#include <tesela/tiles/filled.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tesela::bench {
namespace {

template <class T>
Generator<T> generator(const OlsCase& what, index_t rows, index_t columns, std::uint64_t seed) {
  return {Pattern::uniform, T(0), columns, what.seed + seed, rows};
}

}  // namespace

template <class T>
LseData<T>::LseData(Runtime& runtime, const OlsCase& what, index_t p)
    : ols_(runtime, what),
      c_(generate<T>({p, what.n}, generator<T>(what, p, what.n, 2))),
      d_(generate<T>({p, what.rhs}, generator<T>(what, p, what.rhs, 3))) {}

template <class T>
double LseData<T>::check(const std::string& peer, const HostMatrix<T>& x) const {
  constexpr bool single = std::is_same_v<T, float>;
  const LseError error = lse_error(ols_.original_a(), ols_.original_b(), c_, d_, x, HostMatrix<T>(), {}, {});
  const double bound = single ? 5e-6 : 5e-15 * std::sqrt(static_cast<double>(what().n)),
               norm = static_cast<double>(kernels::euclidean_norm(x.size(), x.data()));
  if (x_norm_ < 0) {
    x_norm_ = norm;
    residual_norm_ = error.residual_norm;
  }
  const double tolerance = single ? 1e-2 : 1e-8;
  const double share = std::max({error.constraint / bound, std::abs(norm / x_norm_ - 1) / tolerance,
                                 std::abs(error.residual_norm / residual_norm_ - 1) / tolerance});
  if (!(share <= 1))
    throw WrongResult(
        fmt::format("bench lse: {}: ||C x - d|| {:.3g} (bound {:.3g}), ||x|| {:.10g} and ||A x - b|| {:.10g} (another "
                    "peer's {:.10g} "
                    "and {:.10g})",
                    peer, error.constraint, bound, norm, error.residual_norm, x_norm_, residual_norm_));
  return share;
}

template class LseData<float>;
template class LseData<double>;

}  // namespace tesela::bench
