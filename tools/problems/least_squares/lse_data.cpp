#include "tools/problems/least_squares/lse_data.hpp"

#include "tools/checks/lse_error.hpp"
#include <tesela/host/minimum_norm.hpp>
#include <tesela/tiles/filled.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tesela::bench {

template <class T>
LseData<T>::LseData(Runtime& runtime, Shape a, index_t rhs, index_t p, std::uint64_t seed, bool on_workers)
    : ols_{{}, 0, "", a, rhs, seed, &runtime},
      c_(generate<T>({p, a.cols}, Generator<T>{Pattern::uniform, T(0), a.cols, seed + 2, p})),
      d_(generate<T>({p, rhs}, Generator<T>{Pattern::uniform, T(0), rhs, seed + 3, p})) {
  ols_.generate_uniform(on_workers);
}

template <class T>
double LseData<T>::check(const std::string& peer, const HostMatrix<T>& x) const {
  constexpr bool single = std::is_same_v<T, float>;
  const LseError error = lse_error(ols_.a, ols_.b, c_, d_, x, HostMatrix<T>(), {}, {});
  const double bound = single ? 5e-6 : 5e-15 * std::sqrt(static_cast<double>(ols_.shape.cols)),
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
