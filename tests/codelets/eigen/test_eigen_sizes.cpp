// Sizes and offsets for orders whose square exceeds 32 bits; the square of 46341 is the first that exceeds 31 bits.
#include "tests/support/test.hpp"
#include <tesela/codelets/eigen/bulge_blocks.hpp>
#include <tesela/host/lapack.hpp>
#include <tesela/runtime/errors.hpp>

#include <cstdint>

using namespace tesela;
using namespace tesela::kernels;

namespace {

constexpr index_t beyond = index_t{1} << 31;

BulgePlan whole_band(index_t n, index_t b, index_t group) {
  BulgePlan plan{.n = n, .b = b, .window = 0, .group = group};
  plan.window = (ceiling(n, b) + group + 1) * b;
  return plan;
}

/// Returns the hops of all sweeps, counted one by one.
index_t hops_of(const BulgePlan& plan, index_t group) {
  index_t count = 0;
  for (index_t t = 0; t < plan.size(group); ++t) count += plan.last_hop(plan.first_sweep(group) + t) + 1;
  return count;
}

}  // namespace

TEST_CASE("reflectors of a bulge chase have separate slots if n^2 exceeds 32 bits") {
  const index_t n = GENERATE(46341, 65536, 98304), b = GENERATE(32, 64);
  const BulgePlan plan = whole_band(n, b, ceiling(n, 4));
  REQUIRE(plan.whole());
  index_t numbers = 0;
  for (index_t g = 0; g < plan.groups(); ++g) {
    CAPTURE(n, b, g);
    CHECK(plan.slots(g) >= hops_of(plan, g));
    numbers += plan.slots(g) * plan.slot_rows();
    // The last hop of the last sweep lies within the tile and after the previous sweep.
    const index_t w = plan.first_window(g), t = plan.size(g) - 1, sweep = plan.first_sweep(g) + t,
                  last = plan.slot(g, w, t, t + plan.last_hop(sweep));
    CHECK(last < plan.slots(g));
    CHECK(last > plan.slot(g, w, t - 1, t - 1 + plan.last_hop(sweep - 1)));
    CHECK(plan.row(sweep, plan.last_hop(sweep)) < n);
  }
  CHECK(numbers > n * n / 2);
  if (n >= 65536) CHECK(plan.slots(0) * plan.slot_rows() > beyond / 4);
  CHECK(numbers < n * n);
}

TEST_CASE("windows of a bulge chase cover every hop if n^2 exceeds 32 bits") {
  const index_t n = 46341, b = 32;
  const BulgePlan plan{.n = n, .b = b, .window = 17 * b, .group = 16};
  for (index_t g = 0; g < plan.groups(); g += 97) {
    index_t step = 0;
    for (index_t w = plan.first_window(g); w <= plan.last_window(g); ++w) {
      REQUIRE(plan.first_step(g, w) == step);
      step = plan.end_step(g, w);
      REQUIRE(plan.slot(g, w, plan.size(g) - 1, step - 1) < plan.slots(g));
    }
    CHECK(step == plan.steps(g));
  }
}

TEST_CASE("block reflectors of a bundle have separate columns at large orders") {
  const index_t n = GENERATE(46341, 98304);
  const BulgeBlocks blocks{.chase = whole_band(n, 64, ceiling(n, 4)), .width = 32, .blocks = 4};
  CHECK(blocks.column(blocks.blocks - 1, blocks.hops(0) - 1) == blocks.columns() - 1);
  CHECK(blocks.end_sweep(blocks.bundles() - 1) == blocks.chase.sweeps());
  index_t sweeps = 0;
  for (index_t i = 0; i < blocks.bundles(); ++i) sweeps += blocks.end_sweep(i) - blocks.first_sweep(i);
  CHECK(sweeps == blocks.chase.sweeps());
}

TEMPLATE_TEST_CASE("LAPACK's eigensolvers refuse orders whose workspace size overflows 32 bits", "", float, double) {
  // 2 n^2 + 6 n + 1 is negative from 32767 on and a small positive number at 46341; no memory may be written.
  for (const index_t n : {index_t{32767}, index_t{46341}, index_t{65536}}) {
    CHECK_THROWS_AS(lapack::syevd<TestType>(n, nullptr, n, nullptr, true), ArgumentError);
    for (const int kind : {1, 2, 3})
      CHECK_THROWS_AS(lapack::sygvd<TestType>(kind, n, nullptr, n, nullptr, n, nullptr, true), ArgumentError);
  }
}
