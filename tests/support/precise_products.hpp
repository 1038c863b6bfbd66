#pragma once

#include <tesela/host/blas.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <algorithm>
#include <cmath>

namespace tesela::test {

/// Sums of products of matrices with more digits than double precision, by BLAS. Each factor is the sum of a multiple
/// of 2^-digits and a small rest. Products of multiples and their sums are exact, if the sums are as small as promised.
/// All other terms have the rest as a factor, so their rounding errors are 2^-digits times as small as usual. (The
/// splitting of Ozaki, Ogita, Oishi and Rump, 2012.)
template <class Wide>
class PreciseProducts {
 public:
  /// Begins with zeros. `most` bounds sum_k |a_ik| |b_kj| over all products.
  PreciseProducts(Shape shape, double most)
      : exact_(HostMatrix<Wide>::zeros(shape.rows, shape.cols)),
        rest_(HostMatrix<Wide>::zeros(shape.rows, shape.cols)),
        digits_((50 - std::ilogb(std::max(most, 1.0))) / 2) {}

  /// Adds sign op(A) B.
  void add(int sign, Op op, const HostMatrix<Wide>& a, const HostMatrix<Wide>& b) {
    const HostMatrix<Wide> of_a = multiples(a), of_b = multiples(b), rest_of_a = minus(a, of_a),
                           rest_of_b = minus(b, of_b);
    add_to(exact_, sign, op, of_a, of_b);
    add_to(rest_, sign, op, of_a, rest_of_b);
    add_to(rest_, sign, op, rest_of_a, b);
  }

  /// Returns an element of the sum.
  Wide operator()(index_t i, index_t j) const { return exact_(i, j) + rest_(i, j); }

 private:
  /// Returns the nearest multiples of 2^-digits.
  HostMatrix<Wide> multiples(const HostMatrix<Wide>& a) const {
    const double large = std::ldexp(1.5, 52 - digits_);
    HostMatrix<Wide> b = a.clone();
    auto* const parts = reinterpret_cast<real_t<Wide>*>(b.data());
    for (index_t e = 0; e < b.size() * (is_complex<Wide> ? 2 : 1); ++e) parts[e] = (parts[e] + large) - large;
    return b;
  }
  static HostMatrix<Wide> minus(const HostMatrix<Wide>& a, const HostMatrix<Wide>& b) {
    HostMatrix<Wide> c = a.clone();
    for (index_t e = 0; e < c.size(); ++e) c.data()[e] -= b.data()[e];
    return c;
  }
  static void add_to(HostMatrix<Wide>& c, int sign, Op op, const HostMatrix<Wide>& a, const HostMatrix<Wide>& b) {
    if (c.size() > 0 && b.rows() > 0)
      blas::gemm(op, Op::none, c.rows(), c.cols(), b.rows(), Wide(sign), a.data(), a.ld(), b.data(), b.ld(), Wide(1),
                 c.data(), c.ld());
  }

  HostMatrix<Wide> exact_, rest_;
  int digits_;
};

}  // namespace tesela::test
