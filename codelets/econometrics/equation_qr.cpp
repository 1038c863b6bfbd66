#include <tesela/codelets/econometrics/equation_qr.hpp>
#include <tesela/codelets/econometrics/internal/equation_columns.hpp>
#include <tesela/codelets/econometrics/internal/equation_space.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/host/minimum_norm.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

namespace tesela::kernels {
namespace equation {
namespace {

/// Copies the upper triangle of z's first columns, with zeros below.
void copy_triangle(const Block<double>& z, const Block<double>& R) {
  for (index_t p = 0; p < R.cols; ++p) {
    std::copy_n(&z(0, p), p + 1, &R(0, p));
    std::fill_n(R.data + p + 1 + p * R.ld, R.rows - p - 1, 0.0);
  }
}

}  // namespace

void gather(const In<double>& a, const Picks& picks, const Block<double>& z) {
  for (index_t p = 0; p < z.cols; ++p) {
    const index_t kept = std::min<index_t>(picks.height(p), z.rows);
    std::copy_n(&a(0, picks.column(p)), kept, &z(0, p));
    std::fill_n(z.data + kept + p * z.ld, z.rows - kept, 0.0);
  }
}

void invert(const Block<double>& R, const Block<double>& facts) {
  constexpr index_t block = 64;  // rows of R^-1 (columns of R^-T) at a time
  const index_t r = R.cols;
  double most = 0;
  std::vector<double> norms, sums(static_cast<std::size_t>(r), 0.0);
  for (index_t p = 0; p < r; ++p) {  // of R D^-1
    double sum = 0;
    for (index_t i = 0; i <= p; ++i) sum += std::abs(R(i, p));
    norms.push_back(euclidean_norm(p + 1, &R(0, p)));
    most = std::max(most, sum / norms.back());
  }
  for (index_t p = 0; p < r; p += block) {
    const index_t w = std::min(block, r - p), rows = r - p;
    auto X = HostMatrix<double>::zeros(rows, w);
    for (index_t j = 0; j < w; ++j) X(j, j) = 1;
    blas::trsm(Op::transpose, rows, w, &R(p, p), R.ld, X.data(), X.ld());
    for (index_t j = 0; j < w; ++j) {
      facts(p + j, 1) = euclidean_norm(rows, &X(0, j));
      for (index_t c = 0; c < rows; ++c)
        sums[static_cast<std::size_t>(p + c)] += norms[static_cast<std::size_t>(p + j)] * std::abs(X(c, j));
    }
  }
  facts(r, 0) = r > 0 ? most * *std::max_element(sums.begin(), sums.end()) : 1;
}

void state(const Block<double>& R, const Picks& picks, const double* product, const Block<double>& facts) {
  const index_t r = R.cols, exogenous = picks.exogenous(), constant = picks.constant();
  for (index_t p = 0; p < r; ++p) {
    facts(p, 2) = std::abs(R(p, p));
    facts(p, 3) = p < exogenous ? 0 : euclidean_norm(p + 1 - exogenous, &R(exogenous, p));
  }
  std::vector<double> v(product, product + r);
  if (constant >= 0) {
    const double* c = &R(0, constant);
    const double norm = euclidean_norm(constant + 1, c);
    for (int twice = 0; twice < 2; ++twice) {
      double along = 0;
      for (index_t i = 0; i <= constant; ++i) along += v[static_cast<std::size_t>(i)] * (c[i] / norm);
      for (index_t i = 0; i <= constant; ++i) v[static_cast<std::size_t>(i)] -= along * (c[i] / norm);
    }
  }
  facts(r, 1) = euclidean_norm(r, v.data());
  facts(r, 2) = facts(r, 3) = 0;
}

void subtract(const In<double>& a, const Picks& picks, const double* b, double* y) {
  for (index_t p = 0; p < picks.r; ++p) {
    if (picks.column(p) < 0) continue;
    const double factor = b[p], *column = &a(0, picks.column(p));
    const index_t rows = p < picks.exogenous() ? picks.height(p) : a.rows;  // exogenous columns end there
    for (index_t i = 0; i < rows; ++i) y[i] -= factor * column[i];
  }
}

void finish(const In<double>& a, const Picks& picks, const Block<double>& z, const Block<double>& facts,
            double* residual) {
  const index_t r = picks.r;
  HostMatrix<double> triangle(r, r);
  const Block<double> R{triangle.data(), r, r, triangle.ld()};
  copy_triangle(z, R);
  for (index_t p = 0; p < r; ++p) facts(p, 0) = z(p, r);
  if (r > 0) blas::trsm(Op::none, r, 1, R.data, R.ld, &facts(0, 0), facts.ld);
  invert(R, facts);
  state(R, picks, &z(0, r), facts);
  std::copy_n(&a(0, picks.column(r)), a.rows, residual);
  subtract(a, picks, &facts(0, 0), residual);
}

}  // namespace equation
namespace {

using equation::Picks;

constexpr index_t panel = 32;

/// Returns the rows, from row 0, of the panel of columns p ... p + w - 1.
index_t panel_rows(const Picks& picks, index_t rows, index_t p, index_t w) {
  return std::min<index_t>(rows, std::max<index_t>(picks.height(p + w - 1), p + w));
}

/// Replaces columns 0 ... r - 1 by R and Householder vectors, and multiplies the other columns by Q^T.
std::vector<double> factor(const Picks& picks, const Block<double>& z) {
  const index_t r = picks.r;
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

EquationPanels equation_panels(const int* heights, index_t count, index_t stride, index_t rows) {
  EquationPanels panels;
  panels.columns =
      ceil_div(std::max<index_t>(ceil_div(count, static_cast<index_t>(panels.rows.size())), 1), panel) * panel;
  for (index_t p = 0; heights != nullptr && p < count; p += panels.columns) {
    const index_t end = std::min(count, p + panels.columns);
    panels.rows[static_cast<std::size_t>(p / panels.columns)] =
        static_cast<std::int32_t>(std::min<index_t>(rows, std::max<index_t>(heights[(end - 1) * stride], end)));
  }
  return panels;
}

Shape equation_work(index_t rows, index_t regressors, bool with_gpu) {
  const index_t columns = regressors + 1;
  if (!with_gpu) return {rows, columns};
  return {32, ceil_div(equation::Space(nullptr, rows, regressors).elements, index_t{32})};
}

std::uint64_t EquationQr::Args::cost_key() const { return octave(work); }
std::uint64_t EquationBasis::Args::cost_key() const { return octave(work); }

void EquationQr::cpu(const Args& args, In<double> a, In<int> picks, Out<double> facts, Out<double> residual,
                     Scratch<double> work) {
  const Picks own{picks.data, picks.cols - 2};
  const Block<double> z{work.data, args.rows, own.r + 1, args.rows};
  equation::gather(a, own, z);
  factor(own, z);
  equation::finish(a, own, z, facts, residual.data);
}

void EquationBasis::cpu(const Args&, In<double> a, In<int> picks, Out<double> q, Out<double> r, Scratch<double> work) {
  const index_t n = r.cols;
  const Picks own{picks.data, n};
  const Block<double> z{work.data, q.rows, n, q.rows};
  equation::gather(a, own, z);
  const std::vector<double> tau = factor(own, z);
  equation::copy_triangle(z, r);
  for (index_t p = 0; p < n; ++p) {
    std::fill_n(&q(0, p), q.rows, 0.0);
    q(p, p) = 1;
  }
  for (index_t p = (n - 1) / panel * panel; n > 0 && p >= 0; p -= panel) {
    const index_t w = std::min(panel, n - p), rows = panel_rows(own, z.rows, p, w) - p;
    lapack::ormqr(Op::none, rows, n - p, w, &z(p, p), z.ld, &tau[static_cast<std::size_t>(p)], &q(p, p), q.ld);
  }
}

}  // namespace tesela::kernels
