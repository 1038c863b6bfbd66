#include <tesela/codelets/toeplitz/cauchy_product.hpp>
#include <tesela/codelets/toeplitz/internal/sine_transform_body.hpp>
#include <tesela/codelets/toeplitz/internal/toeplitz_host.hpp>
#include <tesela/codelets/toeplitz/lanczos/lanczos.hpp>
#include <tesela/codelets/toeplitz/levinson.hpp>
#include <tesela/host/blas.hpp>

#include <algorithm>
#include <limits>

namespace tesela::kernels {
namespace {

/// Computes y -= V (V' y) for `columns` columns V of one part; returns the component along the last column.
template <class T>
T project(index_t rows, index_t columns, const T* v, index_t ld, T* y, T* h) {
  if (rows == 0) return T(0);
  blas::gemv<T>(Op::transpose, rows, columns, 1, v, ld, y, 0, h);
  blas::gemv<T>(Op::none, rows, columns, -1, v, ld, h, 1, y);
  return h[columns - 1];
}

/// Orthogonalizes y, the product with basis vector k, and writes the next vector and the coefficients. h has one number
/// per basis vector.
template <class T>
void advance(index_t k, const InOut<T>& slot, T* y, T* h, double* coefficients) {
  const index_t n = slot.rows;
  for (int part = 0; part < 2; ++part) {
    const index_t first = part * cauchy_rows(n, 0), rows = cauchy_rows(n, part);
    T *const basis = &slot(first, 3), *const yp = y + first, *const next = basis + (k + 1) * slot.ld;
    const T before = blas::nrm2(rows, yp);
    // The three-term recurrence comes first: the second pass then finds only small components, and one such pass is
    // enough.
    const index_t recent = std::min<index_t>(k + 1, 2);
    T along = project(rows, recent, basis + (k + 1 - recent) * slot.ld, slot.ld, yp, h);
    along += project(rows, k + 1, basis, slot.ld, yp, h);
    T left = blas::nrm2(rows, yp);
    if (!(left > 4 * std::numeric_limits<T>::epsilon() * before)) left = 0;
    for (index_t a = 0; a < rows; ++a) next[a] = left > 0 ? yp[a] / left : T(0);
    coefficients[2 * part] = static_cast<double>(along);
    coefficients[2 * part + 1] = static_cast<double>(left);
  }
}

template <class T>
void step(const In<T>& c, const In<T>& tables, double sigma, bool refine, index_t k, const InOut<T>& slot, T* work,
          double* coefficients) {
  const index_t n = c.rows;
  T *const v = &slot(0, 3), *const y = work, *const r = y + n, *const more = r + n, *const h = more + n,
           *const z = h + slot.cols;
  cauchy::multiply(n, tables.data, tables.ld, slot.data, slot.ld, v + k * slot.ld, y, z);
  if (refine) {
    cauchy::residual(c, tables, sigma, v + k * slot.ld, y, r, z);
    cauchy::multiply(n, tables.data, tables.ld, slot.data, slot.ld, r, more, z);
    for (index_t a = 0; a < n; ++a) y[a] += more[a];
  }
  advance(k, slot, y, h, coefficients);
}

template <class T>
void levinson_step(const In<T>& t, double sigma, index_t k, const InOut<T>& slot, T* work, double* coefficients) {
  const index_t n = t.rows;
  T *const transform = work, *const y = transform + sine_rows(n), *const recursion = y + n,
           *const h = recursion + levinson_work_rows(n);
  const toeplitz::Host core;
  toeplitz::sine_transform(core, true, n, 1, &slot(0, 3 + k), slot.ld, y, n, transform);
  const bool solved = levinson_solve(n, t.data, sigma, y, recursion);
  toeplitz::sine_transform(core, false, n, 1, y, n, y, n, transform);
  advance(k, slot, y, h, coefficients);
  if (!solved) std::fill_n(coefficients, 4, std::numeric_limits<double>::quiet_NaN());
}

}  // namespace

Shape lanczos_work(index_t n, index_t capacity, index_t slots) {
  // Transforms and result of each slot's product; on a GPU also sums over the basis, twice, for each share of 1024
  // rows.
  const index_t shares = (cauchy_rows(n, 0) + 1023) / 1024;
  return {4 * cauchy_length(n) + 3 * n + (4 * shares + 1) * (capacity + 4), slots};
}

Shape levinson_lanczos_work(index_t n, index_t capacity, index_t slots) {
  // First a report and a shift in doubles (and one more, for alignment); then transform, vector and recursion, and on a
  // GPU its result and sums.
  const index_t shares = (cauchy_rows(n, 0) + 1023) / 1024;
  return {
      2 * (levinson_report_rows + 2) + sine_rows(n) + 2 * n + levinson_work_rows(n) + (4 * shares + 1) * (capacity + 4),
      slots};
}

template <class T>
void LanczosStart<T>::cpu(const Args& args, In<T> inverse, In<T> starts, Out<T> slot) {
  for (index_t j = 0; j < 3; ++j) std::copy_n(&inverse(0, 3 * args.shift + j), slot.rows, &slot(0, j));
  std::copy_n(&starts(0, args.start), slot.rows, &slot(0, 3));
}

template <class T>
void LanczosSteps<T>::cpu(const Args& args, In<T> c, In<T> tables, Out<double> coefficients, Scratch<T> work,
                          std::span<const InOut<T>> slots) {
  for (std::size_t s = 0; s < slots.size(); ++s)
    for (int k = 0; k < args.steps; ++k)
      step<T>(c, tables, args.shift[s], args.refine, args.first[s] + k, slots[s], work.data,
              &coefficients(0, static_cast<index_t>(s) * args.steps + k));
}

template <class T>
void LevinsonLanczosSteps<T>::cpu(const Args& args, In<T> t, Out<double> coefficients, Scratch<T> work,
                                  std::span<const InOut<T>> slots) {
  for (std::size_t s = 0; s < slots.size(); ++s)
    for (int k = 0; k < args.steps; ++k)
      levinson_step<T>(t, args.shift[s], args.first[s] + k, slots[s], work.data,
                       &coefficients(0, static_cast<index_t>(s) * args.steps + k));
}

TESELA_STRUCTS_FOR_REALS(LanczosStart, LanczosSteps, LevinsonLanczosSteps)

}  // namespace tesela::kernels
