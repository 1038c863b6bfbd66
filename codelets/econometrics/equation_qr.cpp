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

/// The norms of R^-1's rows to facts(:, 1), and the condition of R with unit columns to facts(r, 0).
void invert(const HostMatrix<double>& R, const Out<double>& facts) {
  constexpr index_t block = 64;  // rows of R^-1, that is columns of R^-T, at a time
  const index_t r = R.cols();
  double most = 0;
  std::vector<double> norms = column_norms(R), sums(static_cast<std::size_t>(r), 0.0);
  for (index_t p = 0; p < r; ++p) {  // of R D^-1
    double sum = 0;
    for (index_t i = 0; i <= p; ++i) sum += std::abs(R(i, p));
    most = std::max(most, sum / norms[static_cast<std::size_t>(p)]);
  }
  for (index_t p = 0; p < r; p += block) {
    const index_t w = std::min(block, r - p), rows = r - p;
    auto X = HostMatrix<double>::zeros(rows, w);
    for (index_t j = 0; j < w; ++j) X(j, j) = 1;
    blas::trsm(Op::transpose, rows, w, &R(p, p), R.ld(), X.data(), X.ld());
    for (index_t j = 0; j < w; ++j) {
      facts(p + j, 1) = euclidean_norm(rows, &X(0, j));
      for (index_t c = 0; c < rows; ++c)
        sums[static_cast<std::size_t>(p + c)] += norms[static_cast<std::size_t>(p + j)] * std::abs(X(c, j));
    }
  }
  facts(r, 0) = r > 0 ? most * *std::max_element(sums.begin(), sums.end()) : 1;
}

/// All facts but the coefficients, which are there already.
void state(const HostMatrix<double>& R, index_t exogenous, index_t constant, const Out<double>& facts) {
  const index_t r = R.cols();
  for (index_t p = 0; p < r; ++p) {
    facts(p, 2) = std::abs(R(p, p));
    facts(p, 3) = p < exogenous ? 0 : euclidean_norm(p + 1 - exogenous, &R(exogenous, p));
  }
  facts(r, 1) = norm_beside_constant(R, facts, constant);
  facts(r, 2) = facts(r, 3) = 0;
}

/// y -= Z b over all of A's rows; columns before `exogenous` have none below their heights.
void subtract(const In<double>& a, const In<int>& picks, index_t exogenous, const double* b, double* y) {
  for (index_t p = 0; p + 1 < picks.cols; ++p) {
    const double factor = b[p], *column = &a(0, picks(0, p));
    const index_t rows = p < exogenous ? picks(1, p) : a.rows;
    for (index_t i = 0; i < rows; ++i) y[i] -= factor * column[i];
  }
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
  for (index_t p = 0; p < r; ++p) facts(p, 0) = z(p, r);
  if (r > 0) blas::trsm(Op::none, r, 1, R.data(), R.ld(), &facts(0, 0), facts.ld);
  invert(R, facts);
  state(R, args.exogenous, args.constant, facts);
  std::copy_n(&a(0, picks(0, r)), a.rows, residual.data);
  subtract(a, picks, args.exogenous, &facts(0, 0), residual.data);
}

void EquationGram::cpu(const Args& args, In<double> a, In<double> gram, In<int> picks, Out<double> facts,
                       Out<double> residual, Scratch<double> z) {
  const index_t r = picks.cols - 1;
  const auto by_qr = [&] { EquationQr::cpu({args.exogenous, args.constant, 0}, a, picks, facts, residual, z); };
  auto R = HostMatrix<double>::zeros(r, r);
  const auto product = [&](index_t i, index_t j) { return gram(std::min(i, j), std::max(i, j)); };
  for (index_t p = 0; p < r; ++p) {
    for (index_t i = 0; i <= p; ++i) R(i, p) = product(picks(0, i), picks(0, p));
    facts(p, 0) = product(picks(0, p), picks(0, r));
  }
  if (r == 0 || lapack::potrf(r, R.data(), R.ld()) != 0) return by_qr();
  invert(R, facts);
  if (!(facts(r, 0) <= args.limit)) return by_qr();
  const auto solve = [&](double* x) {
    blas::trsm(Op::transpose, r, 1, R.data(), R.ld(), x, r);
    blas::trsm(Op::none, r, 1, R.data(), R.ld(), x, r);
  };
  solve(&facts(0, 0));
  std::copy_n(&a(0, picks(0, r)), a.rows, residual.data);
  subtract(a, picks, args.exogenous, &facts(0, 0), residual.data);
  std::vector<double> change(static_cast<std::size_t>(r));
  for (index_t p = 0; p < r; ++p) {
    const double* column = &a(0, picks(0, p));
    double sum = 0;
    for (index_t i = 0; i < picks(1, p); ++i) sum += column[i] * residual(i, 0);
    change[static_cast<std::size_t>(p)] = sum;
  }
  solve(change.data());
  for (index_t p = 0; p < r; ++p) facts(p, 0) += change[static_cast<std::size_t>(p)];
  subtract(a, picks, args.exogenous, change.data(), residual.data);
  state(R, args.exogenous, args.constant, facts);
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
