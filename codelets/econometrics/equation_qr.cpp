#include <tesela/codelets/econometrics/equation_qr.hpp>
#include <tesela/codelets/least_squares/minimum_norm.hpp>
#include <tesela/codelets/libraries/blas.hpp>
#include <tesela/codelets/libraries/lapack.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

namespace tesela::kernels {
namespace {

constexpr index_t panel = 32;

/// How many rows the panel of columns p ... p + w - 1 has, from row 0.
index_t panel_rows(const In<int>& picks, index_t rows, index_t p, index_t w) {
  return std::min<index_t>(rows, std::max<index_t>(picks(1, p + w - 1), p + w));
}

/// Columns 0 ... r - 1 become R and Householder vectors, any others what Q^T makes of them.
std::vector<double> factor(const In<int>& picks, const Block<double>& z, index_t r) {
  std::vector<double> tau(static_cast<std::size_t>(r));
  for (index_t p = 0; p < r; p += panel) {
    const index_t w = std::min(panel, r - p), rows = panel_rows(picks, z.rows, p, w) - p, rest = z.cols - p - w;
    lapack::geqrf(rows, w, &z(p, p), z.ld, &tau[static_cast<std::size_t>(p)]);
    if (rest > 0)
      lapack::ormqr(Op::transpose, rows, rest, w, &z(p, p), z.ld, &tau[static_cast<std::size_t>(p)], &z(p, p + w),
                    z.ld);
  }
  return tau;
}

void gather(const In<double>& a, const In<int>& picks, const Block<double>& z) {
  for (index_t p = 0; p < z.cols; ++p) {
    const index_t kept = std::min<index_t>(picks(1, p), z.rows);
    std::copy_n(&a(0, picks(0, p)), kept, &z(0, p));
    std::fill_n(z.data + kept + p * z.ld, z.rows - kept, 0.0);
  }
}

HostMatrix<double> triangle_of(const Block<double>& z, index_t r) {
  auto R = HostMatrix<double>::zeros(r, r);
  for (index_t p = 0; p < r; ++p) std::copy_n(&z(0, p), p + 1, &R(0, p));
  return R;
}

/// ||R b - c (c^T R b) / ||c||^2||, c = R e_constant, b(constant) = 0.
double norm_beside_constant(const HostMatrix<double>& R, const Out<double>& facts, index_t constant) {
  const index_t r = R.cols();
  std::vector<double> v(static_cast<std::size_t>(r), 0.0);
  for (index_t p = 0; p < r; ++p)
    for (index_t i = 0; p != constant && i <= p; ++i) v[static_cast<std::size_t>(i)] += R(i, p) * facts(p, 0);
  if (constant >= 0) {
    const double* c = &R(0, constant);
    const double norm = euclidean_norm(r, c);
    double along = 0;
    for (index_t i = 0; i < r; ++i) along += v[static_cast<std::size_t>(i)] * (c[i] / norm);
    for (index_t i = 0; i < r; ++i) v[static_cast<std::size_t>(i)] -= along * (c[i] / norm);
  }
  return euclidean_norm(r, v.data());
}

std::uint64_t octave(double work) {
  return static_cast<std::uint64_t>(std::bit_width(static_cast<std::uint64_t>(work)));
}

}  // namespace

double staircase_flops(const int* heights, index_t count, index_t stride) {
  double work = 0;
  for (index_t p = 0; p < count; ++p)
    work += 4 * static_cast<double>(std::max<index_t>(heights[p * stride] - p, 1)) * static_cast<double>(count - p);
  return work;
}

std::uint64_t EquationQr::Args::cost_key() const { return octave(work); }
std::uint64_t EquationBasis::Args::cost_key() const { return octave(work); }

void EquationQr::cpu(const Args& args, In<double> a, In<int> picks, Out<double> facts, Out<double> residual,
                     Scratch<double> z) {
  const index_t r = picks.cols - 1;
  gather(a, picks, z);
  factor(picks, z, r);
  const HostMatrix<double> R = triangle_of(z, r);
  for (index_t p = 0; p < r; ++p) {
    facts(p, 2) = std::abs(R(p, p));
    facts(p, 3) = p < args.exogenous ? 0 : euclidean_norm(p + 1 - args.exogenous, &R(args.exogenous, p));
    facts(p, 0) = z(p, r);
  }
  if (r > 0) {
    blas::trsm(Op::none, r, 1, R.data(), R.ld(), &facts(0, 0), facts.ld);
    auto inverse = HostMatrix<double>::zeros(r, r);  // R^-T, whose columns are the rows of R^-1
    for (index_t p = 0; p < r; ++p) inverse(p, p) = 1;
    blas::trsm(Op::transpose, r, r, R.data(), R.ld(), inverse.data(), inverse.ld());
    for (index_t p = 0; p < r; ++p) facts(p, 1) = euclidean_norm(r, &inverse(0, p));
  }
  facts(r, 0) = r > 0 ? triangle_condition(R, true) : 1;
  facts(r, 1) = norm_beside_constant(R, facts, args.constant);
  facts(r, 2) = facts(r, 3) = 0;

  std::copy_n(&a(0, picks(0, r)), a.rows, residual.data);
  for (index_t p = 0; p < r; ++p) {
    const double b = facts(p, 0), *column = &a(0, picks(0, p));
    for (index_t i = 0; i < a.rows; ++i) residual(i, 0) -= b * column[i];
  }
}

void EquationBasis::cpu(const Args&, In<double> a, In<int> picks, Out<double> q, Out<double> r) {
  const index_t n = r.cols;
  HostMatrix<double> z(q.rows, n);
  const Block<double> block{z.data(), q.rows, n, z.ld()};
  gather(a, picks, block);
  const std::vector<double> tau = factor(picks, block, n);
  for (index_t p = 0; p < n; ++p) {
    std::copy_n(&z(0, p), p + 1, &r(0, p));
    std::fill_n(r.data + p + 1 + p * r.ld, n - p - 1, 0.0);
    std::fill_n(&q(0, p), q.rows, 0.0);
    q(p, p) = 1;
  }
  for (index_t p = (n - 1) / panel * panel; n > 0 && p >= 0; p -= panel) {
    const index_t w = std::min(panel, n - p), rows = panel_rows(picks, z.rows(), p, w) - p;
    lapack::ormqr(Op::none, rows, n - p, w, &z(p, p), z.ld(), &tau[static_cast<std::size_t>(p)], &q(p, p), q.ld);
  }
}

}  // namespace tesela::kernels
