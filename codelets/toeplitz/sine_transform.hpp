#pragma once

#include <tesela/codelets/toeplitz/cauchy.hpp>
#include <tesela/runtime/codelet.hpp>

namespace tesela::kernels {

/// Returns the rows of the scratch of a sine transform of n numbers.
TESELA_BOTH constexpr index_t sine_rows(index_t n) { return 2 * n + 4; }

/// Computes Y = S X for k columns of n numbers, S(i, j) = sqrt(2 / (n + 1)) sin(i j pi / (n + 1)), i, j = 1 ... n.
///
/// Y        X in the sine basis, in the order of cauchy.hpp; or from there back in the order of the unknowns: S is its
///          own inverse.
/// work     sine_rows(n) x k.
/// Method   a real Fourier transform of length 2 (n + 1).
template <class T>
struct SineTransform {
  static constexpr auto name = "sine_transform";
  static constexpr std::uint32_t color = 0x937860;
  struct Args {
    bool back = false;
  };
  static void cpu(const Args& args, In<T> x, Out<T> y, Scratch<T> work);
  static void cuda(CudaContext& context, const Args& args, In<T> x, Out<T> y, Scratch<T> work);
};

}  // namespace tesela::kernels
