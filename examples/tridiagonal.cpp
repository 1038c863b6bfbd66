// Tridiagonal systems: one long system in tiles, and many short systems in the columns or rows of an array.
#include <tesela/tesela.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <vector>

using namespace tesela;

namespace {

constexpr double unread = std::numeric_limits<double>::quiet_NaN();

/// k systems of n equations without dominant diagonals. Element i of system s has the index i along + s across.
struct Systems {
  index_t n, k, along, across;
  std::vector<double> dl, d, du, b;

  Systems(index_t n_, index_t k_, bool rows) : n(n_), k(k_), along(rows ? k : 1), across(rows ? 1 : n) {
    for (auto* v : {&dl, &d, &du, &b}) v->resize(n * k);
    for (index_t s = 0; s < k; ++s)
      for (index_t i = 0; i < n; ++i) {
        const index_t at = i * along + s * across;
        const double t = double(i + n * s);
        dl[at] = i > 0 ? 1 + std::sin(3 * t) / 2 : unread;
        d[at] = std::sin(5 * t) / 4;
        du[at] = i + 1 < n ? std::cos(2 * t) / 2 - 1 : unread;
        b[at] = std::cos(t);
      }
  }

  /// Returns max |A x - b| / (|A| |x| + |b|) over all equations.
  double error(const std::vector<double>& x) const {
    double worst = 0;
    for (index_t s = 0; s < k; ++s)
      for (index_t i = 0; i < n; ++i) {
        const index_t at = i * along + s * across;
        const double terms[]{d[at] * x[at], i > 0 ? dl[at] * x[at - along] : 0, i + 1 < n ? du[at] * x[at + along] : 0};
        double sum = -b[at], size = std::abs(b[at]);
        for (const double term : terms) sum += term, size += std::abs(term);
        if (!(std::abs(sum) <= worst * size)) worst = std::abs(sum) / size;
      }
    return worst;
  }
};

double one_system(Runtime& runtime) {
  const index_t n = 100000;
  Systems system(n, 1, false);
  auto x = system.b;

  const auto view = [&](auto& v) { return MatrixView(v.data(), {n, 1}, n); };
  // x holds b at first. The call chooses the tiles, waits, and checks x.
  const CheckedSolve solved =
      tridiagonal_solve<double>(runtime, view(system.dl), view(system.d), view(system.du), view(x));
  if (!solved.status.ok()) std::printf("equation %d showed that the system is singular\n", int(solved.status.info - 1));
  return solved.good() ? system.error(x) : unread;
}

double batch(Runtime& runtime, SystemsIn systems) {
  const index_t n = 500, k = 100;
  const bool rows = systems == SystemsIn::rows;
  Systems batch(n, k, rows);
  auto x = batch.b;

  const TileShape tile = rows ? TileShape{25, n} : TileShape{n, 25};  // 25 whole systems
  const auto map = [&](std::vector<double>& v) {
    return rows ? TileMatrix<double>::map(runtime, v.data(), k, n, k, tile)
                : TileMatrix<double>::map(runtime, v.data(), n, k, n, tile);
  };
  const Tridiagonal<double> A{map(batch.dl), map(batch.d), map(batch.du)};
  const auto B = map(x);
  Graph g(runtime);
  tridiagonal_solve(g, A, B, {.systems = systems});
  if (!g.wait().ok()) return unread;
  B.bring_home();
  return batch.error(x);
}

}  // namespace

int main() {
  Runtime runtime;
  const double errors[]{one_system(runtime), batch(runtime, SystemsIn::columns), batch(runtime, SystemsIn::rows)};
  std::printf("|A x - b| / (|A| |x| + |b|): one system %.1e, in columns %.1e, in rows %.1e\n", errors[0], errors[1],
              errors[2]);
  return std::all_of(std::begin(errors), std::end(errors), [](double error) { return error < 1e-11; }) ? 0 : 1;
}
