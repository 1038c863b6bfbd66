#include "tools/problems/least_squares/ols_data.hpp"

#include <tesela/host/blas.hpp>
#include <tesela/host/normal_residual.hpp>
#include <tesela/tiles/filled.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tesela::bench {

using namespace kernels;

template <class T>
OlsData<T>::OlsData(Runtime& runtime, const OlsCase& what)
    : runtime_(&runtime),
      what_(what),
      a_(generate<T>({what.m, what.n}, a_generator())),
      b_(generate<T>({what.m, what.rhs}, b_generator())) {
  if (what.on_device) return;
  work_a_ = std::make_unique<HostBuffer>(runtime, static_cast<std::size_t>(a_.size()) * sizeof(T));
  work_b_ = std::make_unique<HostBuffer>(runtime, static_cast<std::size_t>(b_.size()) * sizeof(T));
}

template <class T>
void OlsData<T>::restore() const {
  std::memcpy(a(), a_.data(), static_cast<std::size_t>(a_.size()) * sizeof(T));
  std::memcpy(b(), b_.data(), static_cast<std::size_t>(b_.size()) * sizeof(T));
}

template <class T>
double OlsData<T>::check(const std::string& peer, const T* x, index_t ld) const {
  HostMatrix<T> X(what_.n, what_.rhs);
  for (index_t j = 0; j < what_.rhs; ++j) std::copy_n(x + j * ld, what_.n, &X(0, j));
  const blas::Threads threads(blas::all_cores());
  NormalResidual<T> residual(X);
  residual.add(what_.m, a_.data(), a_.ld(), b_.data(), b_.ld());
  const double error = residual.result().backward_error;
  const double bound = std::is_same_v<T, float> ? 5e-6 : 5e-15 * std::sqrt(static_cast<double>(what_.n));
  if (!(error <= bound))
    throw WrongResult(fmt::format("bench ols: {}: ||A'r|| / (||A|| (||A|| ||x|| + ||b||)) is {:.3g}, above {:.3g}",
                                  peer, error, bound));
  return error / bound;
}

template class OlsData<float>;
template class OlsData<double>;

}  // namespace tesela::bench
