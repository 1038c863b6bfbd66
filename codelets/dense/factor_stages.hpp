#pragma once

#include <tesela/runtime/codelet.hpp>
#include <tesela/runtime/host_device.hpp>
#include <tesela/runtime/scalar.hpp>
#include <tesela/runtime/types.hpp>

namespace tesela::kernels {

/// Entries of one stage: (row + q row_step, column + q column_step) for 0 <= q < count, counted from 0.
struct StageEntries {
  index_t row, column, row_step, column_step, count;
};

/// Returns the entries that a stage of LU, or of Cholesky (symmetric), computes.
TESELA_BOTH inline StageEntries stage_entries(bool symmetric, index_t n, index_t stage) {
  if (symmetric) {  // a row of R: its diagonal entry, then the entries right of it
    const index_t row = (stage - 1) / 2;
    return stage % 2 == 1 ? StageEntries{row, row, 0, 0, 1} : StageEntries{row, row + 1, 0, 1, n - row - 1};
  }
  const index_t sum = stage - 1, top = sum < n ? 0 : sum - n + 1;  // row + column
  return {top, sum - top, 1, -1, (sum < n ? sum : n - 1) - top + 1};
}

/// Computes stages first … end - 1 (counted from 1) of the wavefront of a factorization of the whole n x n matrix A.
/// Only cores compute with complex numbers.
///
/// stop     1 x 1; becomes the position, counted from 1, of a pivot that is zero or not finite (Cholesky: the order of
///          the leading minor that is not positive). The later stages then do nothing.
/// Method   Each entry belongs to one stage, which computes its final value as one sum. LU without pivoting (unit L
///          below U's diagonal): entry (i, j) belongs to stage i + j - 1. Cholesky (A = R^H R; only the upper triangle
///          is read and written): diagonal entries belong to stage 2i - 1, others to stage 2 min(i, j).
template <class T>
struct FactorStages {
  static constexpr auto name = "factor_stages";
  static constexpr std::uint32_t color = 0xc44e52;
  static constexpr bool cores_only = is_complex<T>;
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
