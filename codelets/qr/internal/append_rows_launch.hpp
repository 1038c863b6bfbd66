#pragma once

#include <tesela/runtime/types.hpp>

struct CUstream_st;

namespace tesela::kernels {

/// Most columns that append_rows() accepts.
inline constexpr index_t append_rows_cols = 32;

/// [R; A], all column-major in device memory; A's columns may be anywhere.
template <class T>
struct AppendRowsProblem {
  const T* column[append_rows_cols] = {};  ///< the first n, each with m rows
  index_t m = 0, n = 0;
  const T* before = nullptr;   ///< upper triangle of the old R; null: none
  T* r = nullptr;              ///< R, strict lower zeros included; may be `before`
  index_t ldr = 1;             ///< of both
  double* work = nullptr;      ///< append_rows_work() doubles
  const T* weights = nullptr;  ///< null, or m weights of A's rows; 0: the row is ignored
};

/// Returns the doubles of work space for n <= append_rows_cols columns, on any device.
index_t append_rows_work(index_t n);

/// Enqueues R = the triangular factor of [R; A] for T = float (computed in double) and double: one launch over A, and
/// two to four small launches that join the warps' triangles. Returns the first failed status, a cudaError_t as int: 0
/// is success. Needs compute capability 8.0.
template <class T>
int append_rows(CUstream_st* stream, const AppendRowsProblem<T>& problem);

/// R stacked above some rows of A, for the vendor's geqrf: n + rows rows, n columns, no gaps.
template <class T>
struct StackedRows {
  T* data = nullptr;
  index_t n = 0, rows = 0;
  index_t ld = 0;            ///< n + rows
  int* exponents = nullptr;  ///< n; column c equals 2^exponents[c] times its values in data
};

// Each function enqueues one kernel and returns the status of the launch. stack_triangle copies R's upper triangle (r
// null: zeros) above, stack_rows copies `columns` columns of A below. scale_columns chooses scales that keep squares in
// range and applies them. unstack_triangle writes R back, unscaled, with zeros below its diagonal.
template <class T>
int stack_triangle(CUstream_st* stream, const StackedRows<T>& a, const T* r, index_t ldr);
template <class T>
int stack_rows(CUstream_st* stream, const StackedRows<T>& a, index_t column, index_t columns, const T* from, index_t ld,
               const T* weights = nullptr);
template <class T>
int scale_columns(CUstream_st* stream, const StackedRows<T>& a);
template <class T>
int unstack_triangle(CUstream_st* stream, const StackedRows<T>& a, T* r, index_t ldr);

}  // namespace tesela::kernels
