#include "tools/problems/least_squares/glm_data.hpp"

#include "tools/checks/glm_error.hpp"
#include "tools/checks/gls_error.hpp"
#include <tesela/host/minimum_norm.hpp>
#include <tesela/tiles/filled.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tesela::bench {

template <class T>
GlmData<T>::GlmData(Runtime& runtime, const GlmCase& what) : runtime_(&runtime), what_(what) {
  for (int which = 0; which < 3; ++which) {
    original_[which] = generate<T>(shape(which), generator(which));
    if (!what.on_device)
      work_[which] =
          std::make_unique<HostBuffer>(runtime, static_cast<std::size_t>(original_[which].size()) * sizeof(T));
  }
}

template <class T>
void GlmData<T>::restore() const {
  for (int which = 0; which < 3; ++which)
    std::memcpy(data(which), original_[which].data(), static_cast<std::size_t>(original_[which].size()) * sizeof(T));
}

template <class T>
double GlmData<T>::share(const std::string& peer, double error, double bound, double norm) const {
  constexpr bool single = std::is_same_v<T, float>;
  if (u_norm_ < 0) u_norm_ = norm;
  const double share = std::max(error / bound, std::abs(norm - u_norm_) / u_norm_ / (single ? 1e-2 : 1e-8));
  if (!(share <= 1))
    throw WrongResult(
        fmt::format("bench glm: {}: residual {:.3g} (bound {:.3g}), ||u|| {:.10g} (another peer's {:.10g})", peer,
                    error, bound, norm, u_norm_));
  return share;
}

template <class T>
double GlmData<T>::check(const std::string& peer, const HostMatrix<T>& x, const HostMatrix<T>& u) const {
  const double error = glm_error(original_[0], original_[1], original_[2], x, u, HostMatrix<T>(), {}).constraint;
  return share(peer, error, bound(), static_cast<double>(kernels::euclidean_norm(u.size(), u.data())));
}

template <class T>
double GlmData<T>::check_divided(const std::string& peer, const HostMatrix<T>& x, double u_norm,
                                 double condition) const {
  const double error = gls_error(original_[0], original_[2], original_[1], false, x).backward_error;
  return share(peer, error, bound() * condition, u_norm);
}

template class GlmData<float>;
template class GlmData<double>;

}  // namespace tesela::bench
