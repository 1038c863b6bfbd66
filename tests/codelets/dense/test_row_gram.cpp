#include "tests/support/run_kernel.hpp"
#include "tests/support/shared_runtime.hpp"
#include <tesela/codelets/dense/row_gram.hpp>
#include <tesela/tiles/generator.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <array>

using namespace tesela;
using namespace tesela::kernels;
using namespace tesela::test;

namespace {

void check(Runtime* runtime, Shape c, const RowGram<double>::Args& args) {
  const index_t m = 20 + std::max(args.row + c.rows, args.other_row + c.cols - args.column);
  const Generator<double> random{Pattern::uniform, 3, -1, 1};
  std::array<HostMatrix<double>, 2> a{HostMatrix<double>(m, 3), HostMatrix<double>(m, 2)};
  std::vector<In<double>> tiles;
  for (HostMatrix<double>& one : a) {
    for (index_t j = 0; j < one.cols(); ++j)
      for (index_t i = 0; i < m; ++i) one(i, j) = random(i, j + 10 * std::ssize(tiles));
    tiles.push_back({{one.data(), m, one.cols(), m}});
  }
  HostMatrix<double> found(c.rows, c.cols);
  std::fill_n(found.data(), found.size(), std::numeric_limits<double>::quiet_NaN());
  run_kernel<RowGram<double>>(runtime, args, Out<double>{{found.data(), c.rows, c.cols, c.rows}},
                              std::span<const In<double>>(tiles));
  double most = 0;
  bool zeros = true;
  for (index_t j = 0; j < c.cols; ++j)
    for (index_t i = 0; i < c.rows; ++i) {
      const index_t row = args.row + i, other = args.other_row + j - args.column;
      double sum = -found(i, j);
      for (const HostMatrix<double>& one : a)
        for (index_t k = 0; k < one.cols() && j >= args.column; ++k) sum += one(row, k) * one(other, k);
      if (j < args.column || other < args.row + i / gram_strip * gram_strip)
        zeros = zeros && found(i, j) == 0;
      else
        most = std::isfinite(sum) ? std::max(most, std::abs(sum)) : INFINITY;
    }
  CAPTURE(c.rows, c.cols, args.row, args.other_row, args.column);
  CHECK(zeros);
  CHECK(most <= 1e-14);
}

}  // namespace

KERNEL_TEST_CASE("products of rows are correct at and right of the diagonal", "[sanitize]") {
  check(runtime, {40, 70}, {5, 5, 0});
  check(runtime, {40, 70}, {25, 25, 20});
  check(runtime, {40, 70}, {5, 45, 0});
  check(runtime, {40, 30}, {60, 5, 0});
  check(runtime, {2100, 2130}, {7, 7, 0});
  check(runtime, {2100, 90}, {7, 2080, 15});
}
