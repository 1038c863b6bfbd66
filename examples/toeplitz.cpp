// Symmetric Toeplitz systems: by the method with the smallest residual, by Levinson's recursion, and by an inverse for
// several right-hand sides with refinement.
#include <tesela/tesela.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace tesela;
using namespace tesela::kernels;

namespace {

constexpr index_t n = 3000;
constexpr double sigma = 0.3;  // t(0) is about 0, so T - sigma I is far from definite

/// Returns max |T x - sigma x - b| / (max |b| + n max |x|).
double error(const HostMatrix<double>& t, const double* x, const double* b) {
  double worst = 0, size_x = 0, size_b = 0;
  for (index_t i = 0; i < n; ++i) {
    double sum = -b[i] - sigma * x[i];
    for (index_t j = 0; j < n; ++j) sum += t(i < j ? j - i : i - j, 0) * x[j];
    if (!(std::abs(sum) <= worst)) worst = std::abs(sum);
    size_x = std::max(size_x, std::abs(x[i])), size_b = std::max(size_b, std::abs(b[i]));
  }
  return worst / (size_b + double(n) * size_x);
}

HostMatrix<double> right_hand_sides(index_t k) {
  HostMatrix<double> b(n, k);
  for (index_t j = 0; j < k; ++j)
    for (index_t i = 0; i < n; ++i) b(i, j) = std::cos(double(i * (j + 1)));
  return b;
}

double by_what_suits(Runtime& runtime, const HostMatrix<double>& t) {
  const auto b = right_hand_sides(1);
  auto x = b.clone();
  const ToeplitzSolution solved = toeplitz_solve<double>(runtime, t, sigma, x);  // x holds b at first
  if (!solved.ok()) std::puts(solved.status().c_str());
  std::printf("%s, condition %.1e\n", toeplitz_method_name(solved.taken.method), solved.condition);
  return solved.ok() ? error(t, x.data(), b.data()) : 1;
}

double by_levinson(Runtime& runtime, const HostMatrix<double>& t) {
  const auto b = right_hand_sides(1);
  auto x = b.clone();
  const auto X = TileMatrix<double>::map(runtime, x.data(), n, 1, n, {n, 1});
  const TileMatrix<double> shifts(runtime, 1, 1, {1, 1}), report(runtime, levinson_report_rows, 1, {4, 1});
  shifts(0, 0).write()(0, 0) = sigma;
  Graph g(runtime);
  const Toeplitz<double> A(g, t);
  levinson(g, A, shifts, X, report);  // X holds B at first
  g.wait();
  X.bring_home();
  const auto said = report(0, 0).read();
  if (said(levinson_breakdown, 0) != 0) std::printf("a leading minor vanishes\n");
  std::printf("%d eigenvalues lie below %g\n", int(said(levinson_negative, 0)), sigma);
  return error(t, x.data(), b.data());
}

double by_inverse(Runtime& runtime, const HostMatrix<double>& t) {
  const index_t k = 4;
  const auto b = right_hand_sides(k);
  auto x = b.clone();
  const auto B = TileMatrix<double>::map(runtime, x.data(), n, k, n, {n, 2});
  const TileMatrix<double> outcome(runtime, k, 4, {2, 4});
  Graph g(runtime);
  const Toeplitz<double> A(g, t);
  const GohbergSemencul<double> inverse(g, A, sigma);  // one recursion,
  inverse.solve(g, B, outcome);                        // and Fourier transforms for every right-hand side
  const Status status = g.wait();
  B.bring_home();
  if (!status.ok()) std::printf("not solved to rounding: status %d\n", int(status.info));
  double worst = status.ok() ? 0 : 1;
  for (index_t j = 0; j < k; ++j) worst = std::max(worst, error(t, x.data() + j * n, b.data() + j * n));
  return worst;
}

}  // namespace

int main() {
  Runtime runtime;
  const auto t = toeplitz_column<double>({ToeplitzKind::random, 0, 1}, n);
  const double best_error = by_what_suits(runtime, t);
  const double levinson_error = by_levinson(runtime, t), inverse_error = by_inverse(runtime, t);
  std::printf("errors: the best method %.1e, Levinson %.1e, Gohberg and Semencul with refinement %.1e\n", best_error,
              levinson_error, inverse_error);
  return best_error < 1e-14 && levinson_error < 1e-9 && inverse_error < 1e-14 ? 0 : 1;
}
