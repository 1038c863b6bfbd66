#pragma once

#include <tesela/runtime/codelet.hpp>

namespace tesela::kernels {

/// Stages first … end - 1 (from 1) of the wavefront of a factorization of the whole matrix A, n x n: each entry of a
/// stage is one sum, and final. LU without pivoting (unit L below U's diagonal): entry (i, j) at stage i + j - 1.
/// Cholesky (A = R^T R, of which the upper triangle is read and written): 2i - 1 on the diagonal, else 2 min(i, j).
/// `stop` (1 x 1) becomes the place, from 1, of a pivot that is zero or not finite (Cholesky: of the leading minor that
/// is not positive); then nothing more happens.
template <class T>
struct FactorStages {
  static constexpr auto name = "factor_stages";
  static constexpr std::uint32_t color = 0xc44e52;
  struct Args {
    bool symmetric = false;  ///< Cholesky
    index_t first = 1, end = 1;
    std::uint64_t cost_key() const { return symmetric ? 1 : 0; }
  };
  static double flops(const Args& args, Shape a, Shape);
  static void cpu(const Args& args, InOut<T> a, InOut<double> stop);
  static void cuda(CudaContext& context, const Args& args, InOut<T> a, InOut<double> stop);
};

}  // namespace tesela::kernels
