// A vector's norms, by two ways of using many tiles in one result: a reduction, and a kernel with a list of tiles.
#include <tesela/tesela.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

namespace {

using namespace tesela;
using namespace tesela::kernels;

/// sum += |x_1|^p + |x_2|^p + …
struct SumPowers {
  static constexpr auto name = "sum_powers";
  static constexpr auto color = 0x4c72b0u;
  struct Args {
    int p = 1;
    std::uint64_t cost_key() const { return p == 1 ? 1 : 2; }  // p > 1 calls pow
  };
  static double flops(const Args&, Shape x, Shape) { return 2.0 * static_cast<double>(x.rows); }
  static void cpu(const Args& args, In<double> x, Reduce<double> sum) {
    for (index_t i = 0; i < x.rows; ++i)
      *sum.data += args.p == 1 ? std::abs(x(i, 0)) : std::pow(std::abs(x(i, 0)), args.p);
  }
};

/// The initial value of each worker's private copy of the sum, and the addition of two copies.
struct Zero {
  static constexpr auto name = "zero";
  struct Args {};
  static void cpu(const Args&, Out<double> sum) { *sum.data = 0; }
};
struct Add {
  static constexpr auto name = "add";
  struct Args {};
  static void cpu(const Args&, Commute<double> sum, In<double> other) { *sum.data += *other.data; }
};

/// result = the largest |x_i| of a list of tiles.
struct Largest {
  static constexpr auto name = "largest";
  static constexpr auto color = 0xdd8452u;
  struct Args {};
  static void cpu(const Args&, Out<double> result, std::span<const In<double>> tiles) {
    *result.data = 0;
    for (const In<double>& x : tiles)
      for (index_t i = 0; i < x.rows; ++i) *result.data = std::max(*result.data, std::abs(x(i, 0)));
  }
};

}  // namespace

int main() {
  const index_t n = 100'000;
  std::vector<double> values(n);
  for (index_t i = 0; i < n; ++i) values[i] = static_cast<double>(i % 2 == 0 ? i : -i);

  Runtime runtime;
  const auto x = TileMatrix<double>::map(runtime, values.data(), n, 1, n, {4096, 1}, "x");
  const TileMatrix<double> sum(runtime, 1, 1, {1, 1}, "sum"), top(runtime, 1, 1, {1, 1}, "top");
  const Tile<double> total = sum(0, 0), largest = top(0, 0);

  Graph g(runtime);
  g.reduction<Zero, Add>(total);
  g.insert<Zero>({}, total);
  std::vector<Tile<double>> tiles;
  for (index_t i = 0; i < x.mt(); ++i) {
    g.insert<SumPowers>({.p = 2}, x(i, 0), total);  // in any order, in parallel
    tiles.push_back(x(i, 0));
  }
  g.insert<Largest>({}, largest, tiles);
  g.wait();

  // 0² + 1² + … + (n - 1)² is exact below 2^53.
  const double two = *total.read().data, most = *largest.read().data;
  const bool right = two == static_cast<double>((n - 1) * n * (2 * n - 1) / 6) && most == static_cast<double>(n - 1);
  std::printf("2-norm %g, largest %g: %s\n", std::sqrt(two), most, right ? "right" : "wrong");
  return right ? 0 : 1;
}
