#pragma once

#include <tesela/runtime/codelet.hpp>
#include <tesela/runtime/scalar.hpp>

namespace tesela::kernels {

// Factorization A - sigma I = L D L^H without pivoting, D real, by tiles, to count negative pivots. `mass` collects for
// each row i the sum of |l(i, k)|^2 |d(k)|. The computed factors are exact for A - sigma I + E with |E| <= n eps |L|
// |D| |L|^T, and no element of that product is larger than the largest mass (Higham, "Accuracy and stability of
// numerical algorithms", ch. 11). For complex numbers, on cores alone, the constant is 2 sqrt 2 n eps (lemma 3.5).

/// Sets B to the lower triangle of A - sigma I in a square diagonal tile, and to A in another tile.
template <class T>
struct ShiftedCopy {
  static constexpr auto name = "shifted_copy";
  static constexpr std::uint32_t color = 0x8c8c8c;
  static constexpr bool cores_only = is_complex<T>;
  struct Args {
    real_t<T> sigma = 0;  ///< 0 for a tile off the diagonal
  };
  static void cpu(const Args& args, In<T> a, Out<T> b);
  static void cuda(CudaContext& context, const Args& args, In<T> a, Out<T> b);
};

/// Computes S = A - sigma B, each element rounded once.
template <class T>
struct ShiftedPair {
  static constexpr auto name = "shifted_pair";
  static constexpr std::uint32_t color = 0x8c8c8c;
  static constexpr bool cores_only = is_complex<T>;
  struct Args {
    real_t<T> sigma = 0;
  };
  static void cpu(const Args& args, In<T> a, In<T> b, Out<T> s);
  static void cuda(CudaContext& context, const Args& args, In<T> a, In<T> b, Out<T> s);
};

/// Factors a diagonal tile A = L D L^H: unit L below the diagonal, D on it; the part above is not read and is
/// overwritten. Imaginary parts of the diagonal only add to the mass. `negative` (1 x 1) becomes the number of negative
/// elements of D.
template <class T>
struct Ldlt {
  static constexpr auto name = "ldlt";
  static constexpr std::uint32_t color = 0xc44e52;
  static constexpr bool cores_only = is_complex<T>;
  struct Args {};
  static double flops(const Args&, Shape a, Shape, Shape) {
    const auto n = static_cast<double>(a.rows);
    return flops_each<T> * n * n * n / 3;
  }
  static void cpu(const Args& args, InOut<T> a, InOut<double> mass, Out<double> negative);
  static void cuda(CudaContext& context, const Args& args, InOut<T> a, InOut<double> mass, Out<double> negative);
};

/// Solves below a factored diagonal tile: W = A L^-H, A = W D^-1.
template <class T>
struct LdltPanel {
  static constexpr auto name = "ldlt_panel";
  static constexpr std::uint32_t color = 0x55a868;
  static constexpr bool cores_only = is_complex<T>;
  struct Args {};
  static double flops(const Args&, Shape diagonal, Shape a, Shape, Shape) {
    const auto n = static_cast<double>(diagonal.rows);
    return flops_each<T> * n * n * static_cast<double>(a.rows);
  }
  static void cpu(const Args& args, In<T> diagonal, InOut<T> a, Out<T> w, InOut<double> mass);
  static void cuda(CudaContext& context, const Args& args, In<T> diagonal, InOut<T> a, Out<T> w, InOut<double> mass);
};

}  // namespace tesela::kernels
