#pragma once

#include <tesela/codelets/toeplitz/cauchy.hpp>
#include <tesela/runtime/codelet.hpp>

namespace tesela::kernels {

/// Report of a run of Levinson's recursion on one shift, in doubles: the rows of its report tile.
enum LevinsonReport : std::uint8_t {
  levinson_negative,   ///< negative pivots, the number of negative eigenvalues of T - sigma I
  levinson_breakdown,  ///< order, from 1 on, whose leading minor vanished or was not finite; 0 if none did
  levinson_least,      ///< the least magnitude of a pivot, of T - sigma I itself
  levinson_growth,     ///< the largest magnitude of a reflection coefficient alpha: 1 if a minor vanishes next
  levinson_report_rows,
};

/// Solves (T - sigma I) X = B by Levinson's recursion, T(i, j) = t(|i - j|) symmetric: whole solves in one task, one
/// after the other for each of s shifts with its k right-hand sides.
///
/// t        n x 1, t times 2^-args.exponent.
/// shifts   s x 1.
/// b, x     n x (s k), the k columns of a shift side by side. Each column of b is scaled to size 1 during the solve
///          (tiles/power_of_two.hpp), so that products stay in range. x is zero for a shift that breaks down.
/// report   levinson_report_rows x s.
/// work     levinson_work_rows(n) x (s k).
/// Method   without pivoting. The pivots are those of L D L^T: beta(1) = t(0) - sigma, beta(i + 1) = (1 - alpha(i)^2)
///          beta(i). A shift with a zero pivot breaks down. A shift needs 4 n^2 flops for k = 1 (2 n^2 for the
///          recursion of y and 2 n^2 for each column). It is backward stable in general only for positive definite
///          matrices (Cybenko 1980): otherwise measure the residual. n is at most levinson_most, and 2^16 on GPUs
///          without thread block clusters (before compute capability 9). Sources: N. Levinson 1947; G. Golub, C. Van
///          Loan, Matrix Computations, 4.7.
template <class T>
struct Levinson {
  static constexpr auto name = "levinson";
  static constexpr std::uint32_t color = 0xc44e52;
  struct Args {
    int blocks = 0;    ///< thread blocks of a GPU for one right-hand side, 1, 2, 4, 8 or 16; 0: automatic
    int exponent = 0;  ///< of t
  };
  static double flops(const Args&, Shape t, Shape shifts, Shape x, Shape, Shape) {
    const auto n = static_cast<double>(t.rows);
    return 2 * n * n * static_cast<double>(shifts.rows + x.cols);
  }
  static void cpu(const Args& args, In<T> t, In<T> shifts, InOut<T> x, Out<double> report, Scratch<T> work);
  static void cuda(CudaContext& context, const Args& args, In<T> t, In<T> shifts, InOut<T> x, Out<double> report,
                   Scratch<T> work);
};

/// Runs the same recursion without a right-hand side (Durbin): column j of inverse, n x s, becomes the first column of
/// (T - shifts(j) I)^-1, or zeros at a breakdown. work is levinson_work_rows(n) x s.
template <class T>
struct Durbin {
  static constexpr auto name = "durbin";
  static constexpr std::uint32_t color = 0xc44e52;
  struct Args {
    int blocks = 0, exponent = 0;  ///< as in Levinson
  };
  static double flops(const Args&, Shape t, Shape shifts, Shape, Shape, Shape) {
    const auto n = static_cast<double>(t.rows);
    return 2 * n * n * static_cast<double>(shifts.rows);
  }
  static void cpu(const Args& args, In<T> t, In<T> shifts, Out<T> inverse, Out<double> report, Scratch<T> work);
  static void cuda(CudaContext& context, const Args& args, In<T> t, In<T> shifts, Out<T> inverse, Out<double> report,
                   Scratch<T> work);
};

/// Counts the eigenvalues below each shift, with the same report as CauchyCount, by the pivots of Durbin's recursion.
///
/// work     levinson_count_rows(n) x s.
/// report   `smallest_pivot` is Levinson's last pivot: zero if sigma is an eigenvalue.
/// Method   (T - sigma I) of order k + 1 is the one of order k - 1 bordered on all sides, with the Schur complement
///          beta(k) (1 -alpha(k); -alpha(k) 1): beta(k) (1 - alpha(k)) is a pivot of its symmetric part and beta(k) (1
///          + alpha(k)) one of its skew part. The pivots of every second k, from n - 1 down, have the signs of all n
///          eigenvalues (P. Delsarte, Y. Genin, IEEE Trans. ASSP 34, 1986).
template <class T>
struct LevinsonCount {
  static constexpr auto name = "levinson_count";
  static constexpr std::uint32_t color = 0x64b5cd;
  struct Args {};
  static double flops(const Args&, Shape t, Shape sigma, Shape, Shape) {
    return 2 * static_cast<double>(t.rows) * static_cast<double>(t.rows * sigma.rows);
  }
  static void cpu(const Args& args, In<T> t, In<double> sigma, Out<double> report, Scratch<T> work);
  static void cuda(CudaContext& context, const Args& args, In<T> t, In<double> sigma, Out<double> report,
                   Scratch<T> work);
};

/// Largest order, and the numbers of work space for a solution and for a count.
inline constexpr index_t levinson_most = index_t{1} << 20;
constexpr index_t levinson_work_rows(index_t n) { return 2 * n + 2; }
constexpr index_t levinson_count_rows(index_t n) { return 3 * n + 2; }

/// Solves x <- (T - sigma I)^-1 x for one vector, on a core; work has levinson_work_rows(n) numbers. Returns false,
/// with x = 0, at a breakdown.
template <class T>
bool levinson_solve(index_t n, const T* t, double sigma, T* x, T* work);

/// Does the same for `count` shifts with one column each, on a GPU. report is levinson_report_rows x count, work
/// levinson_work_rows(n) x count.
template <class T>
void levinson_solve(CudaContext& context, index_t n, const T* t, index_t count, const double* sigma, T* x, index_t ld,
                    double* report, T* work);

}  // namespace tesela::kernels
