// All eigenvalues of a symmetric Toeplitz matrix, then the eigenvectors in an interval, and the number of eigenvalues
// below a value, without T in memory.
#include <tesela/tesela.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <vector>

using namespace tesela;

namespace {

constexpr index_t n = 400;

/// t(0) = 2, t(1) = -1: the eigenvalues are 2 - 2 cos(j pi / (n + 1)), j = 1 ... n.
double eigenvalue(index_t j) { return 2 - 2 * std::cos(double(j + 1) * std::numbers::pi / double(n + 1)); }

/// Returns max |T x - lambda x|.
double residual(const double* x, double lambda) {
  double worst = 0;
  for (index_t i = 0; i < n; ++i) {
    const double before = i > 0 ? x[i - 1] : 0, after = i + 1 < n ? x[i + 1] : 0;
    worst = std::max(worst, std::abs(2 * x[i] - before - after - lambda * x[i]));
  }
  return worst;
}

}  // namespace

int main() {
  std::vector<double> t(n, 0.0);
  t[0] = 2, t[1] = -1;
  double worst = 0;

  Runtime runtime;
  const auto all = toeplitz_spectrum<double>(runtime, t);
  if (index_t(all.values.size()) != all.expected)
    std::printf("%d are missing\n", int(all.expected) - int(all.values.size()));
  for (index_t j = 0; j < index_t(all.values.size()); ++j)
    worst = std::max(worst, std::abs(all.values[j] - eigenvalue(j)));

  const auto some = toeplitz_spectrum<double>(runtime, t, {.vectors = true, .low = 1, .high = 1.25});
  std::vector<double> x(n * some.values.size());
  some.vectors->copy_to(x.data(), n);
  for (std::size_t j = 0; j < some.values.size(); ++j) worst = std::max(worst, residual(&x[n * j], some.values[j]));

  const std::vector<double> shifts{1, 1.25};
  Graph g(runtime);
  const auto below = toeplitz_count<double>(g, SineToeplitz<double>(g, t), shifts);

  std::printf("%d eigenvalues, %d of them in [1, 1.25); largest error %.1e\n", int(all.values.size()),
              int(some.values.size()), worst);
  const bool right = index_t(all.values.size()) == n && some.expected == index_t(some.values.size()) &&
                     below[1].total() - below[0].total() == some.expected && !some.values.empty() && worst < 1e-12;
  return right ? 0 : 1;
}
