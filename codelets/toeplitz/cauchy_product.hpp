#pragma once

#include <tesela/codelets/toeplitz/cauchy.hpp>
#include <tesela/host/fft.hpp>

namespace tesela::kernels {

// Products with the matrices of cauchy.hpp by Fourier transforms. A product with a pivot's angle can be written in two
// forms,
//   w(a + b + o) w(a - b) = (cot(a - b) - cot(a + b + o)) / sin(2 b + o) = (cot(a - b) + cot(a + b + o)) / sin(2 a + o)
// (angles in units of pi / (n + 1)). The part of c_ab with h_b uses the first form and the part with h_a the second, so
// that only h is divided by sines. For a Toeplitz matrix h_a / sin(2 a + o) is constant, and the product is exact to a
// few roundings of its largest elements; either form alone loses as many digits as n has. The two parts are the real
// and the imaginary part of one complex transform.

/// Returns the length of the transforms of a block's products, for matrices of order n.
inline index_t cauchy_length(index_t n) { return fft::good_size(2 * cauchy_rows(n, 0) - 1); }
/// Returns the shape of CauchyTables' tables for order n.
inline Shape cauchy_tables(index_t n) { return {2 * cauchy_length(n), 6}; }
/// Returns the shape of the Scratch for products of `columns` columns.
inline Shape cauchy_work(index_t n, index_t columns) { return {4 * cauchy_length(n), columns}; }

/// Computes C (n x 3) for the Toeplitz matrix with first column t (n x 1): g, h and the diagonal of S T S by three sine
/// or cosine transforms.
template <class T>
struct ToeplitzToCauchy {
  static constexpr auto name = "toeplitz_to_cauchy";
  static constexpr std::uint32_t color = 0xc7c7c7;
  struct Args {};
  static void cpu(const Args& args, In<T> t, Out<T> c);
};

/// Computes the constants of products of order n: transforms of cot(a) and cot(a + o) over the length for each block
/// (columns 0 ... 3, complex), then 1 / sin(2 a + o) and 2 cot(2 a + o) for each row.
template <class T>
struct CauchyTables {
  static constexpr auto name = "cauchy_tables";
  static constexpr std::uint32_t color = 0x17becf;
  struct Args {
    index_t n = 0;
  };
  static void cpu(const Args& args, Out<T> tables);
};

/// Computes quality(part, s) = ||(C - sigma_s I) B x - x||, the rounding errors of an inverse.
///
/// inverse  B is number s of a CauchyInvert. A Ritz pair of B is one of C to about this error times its distance from
///          the shift.
/// starts   x is the first column.
template <class T>
struct CauchyInverseError {
  static constexpr auto name = "cauchy_quality";
  static constexpr std::uint32_t color = 0x937860;
  struct Args {};
  static void cpu(const Args& args, In<T> c, In<T> tables, In<double> sigma, In<T> inverse, In<T> starts,
                  Out<double> quality, Scratch<T> work);
  static void cuda(CudaContext& context, const Args& args, In<T> c, In<T> tables, In<double> sigma, In<T> inverse,
                   In<T> starts, Out<double> quality, Scratch<T> work);
};

/// Does the same as CauchyInvert and CauchyInverseError for one block and one shift, on a core: two cores share a
/// shift.
///
/// inverse  g, h and diagonal of the block: cauchy_rows(n, part) x 3.
/// report   one column of CauchyReport::rows numbers; quality is one number.
/// work     cauchy_invert_part_rows(n) x 1.
template <class T>
struct CauchyInvertPart {
  static constexpr auto name = "cauchy_invert_part";
  static constexpr std::uint32_t color = 0x4c72b0;
  struct Args {
    int part = 0;
  };
  static double flops(const Args&, Shape c, Shape, Shape, Shape, Shape, Shape, Shape, Shape) {
    return 2.75 * static_cast<double>(c.rows) * static_cast<double>(c.rows);
  }
  static void cpu(const Args& args, In<T> c, In<T> tables, In<double> sigma, In<T> starts, Out<T> inverse,
                  Out<double> report, Out<double> quality, Scratch<T> work);
};
inline index_t cauchy_invert_part_rows(index_t n) { return 2 * cauchy_length(n) + 2 * cauchy_rows(n, 0); }

namespace cauchy {

/// Computes y = C x for one vector of order n, both blocks, on a core; z has cauchy_work(n, 1) numbers.
template <class T>
void multiply(index_t n, const T* tables, index_t ld_tables, const T* c, index_t ldc, const T* x, T* y, T* z);

/// Computes r = x - (C - sigma I) y in the same way; c is n x 3.
template <class T>
void residual(const In<T>& c, const In<T>& tables, double sigma, const T* x, const T* y, T* r, T* z);

}  // namespace cauchy
}  // namespace tesela::kernels
