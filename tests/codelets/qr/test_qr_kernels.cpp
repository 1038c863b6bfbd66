#include "tests/support/four_types.hpp"
#include "tests/support/qr_tiles.hpp"
#include "tests/support/vector_targets.hpp"
#include <tesela/codelets/qr/tile_qr.hpp>
#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/tile_matrix.hpp>

using namespace tesela::kernels;
using namespace tesela::test;

namespace {

/// Returns the upper triangles of T's blocks.
Where block_triangles(index_t k, index_t ib) {
  return [=](index_t i, index_t j) { return j < k && i <= j % ib; };
}

// Two correct algorithms differ by some tens of roundings for these sizes; a wrong element by more than 1e10.
constexpr double tolerance = 2000;

struct Case {
  index_t m, n, row, col, width, ib;
};
const Case geqrt_cases[] = {
    {1, 1, 0, 0, 1, 1},        {5, 5, 0, 0, 5, 2},      {16, 16, 0, 0, 16, 16}, {17, 17, 0, 0, 17, 17},
    {40, 33, 0, 0, 33, 8},     {100, 50, 7, 9, 30, 13}, {64, 64, 0, 0, 64, 64}, {130, 70, 3, 5, 60, 40},
    {10, 30, 2, 4, 20, 8},     {3, 20, 2, 0, 7, 4},     {20, 12, 0, 0, 10, 64}, {1200, 40, 1, 0, 40, 32},
    {600, 100, 0, 10, 90, 90}, {50, 20, 50, 0, 10, 4},  {1, 9, 0, 3, 4, 2},     {33, 33, 0, 0, 33, 1},
};

Where active_geqrt(const Case& c) {
  return [c](index_t i, index_t j) { return i >= c.row && j >= c.col; };
}

template <class T>
typename Geqrt<T>::Args geqrt_args(const Case& c) {
  return {c.row, c.col, c.width, c.ib, c.m - c.row};
}

}  // namespace

TEMPLATE_TEST_CASE("geqrt agrees with LAPACK and leaves other elements unchanged", "", float, double) {
  TESELA_ON_EACH_VECTOR_TARGET();
  using T = TestType;
  for (const Case& c : geqrt_cases) {
    CAPTURE(c.m, c.n, c.row, c.col, c.width, c.ib);
    const index_t m = c.m - c.row, k = std::min(m, c.width), rest = c.n - c.col - c.width;
    const Where active = active_geqrt(c);
    const Padded<T> before = random<T>(c.m, c.n, active, 1);
    Padded<T> a = before, expected = before, t(c.ib, c.width), expected_t(c.ib, c.width), old = before;
    Padded<T> work = work_for<T>(c.width, c.n), poison = t;
    Geqrt<T>::cpu(geqrt_args<T>(c), a.template as<InOut>(), t.template as<Out>(), work.template as<Scratch>());
    geqrt(m, c.width, c.ib, expected.at(c.row, c.col), expected.ld, expected_t.at(0, 0), expected_t.ld);
    gemqrt(Side::left, Op::transpose, m, rest, k, c.ib, expected.at(c.row, c.col), expected.ld, expected_t.at(0, 0),
           expected_t.ld, expected.at(c.row, c.col + c.width), expected.ld);
    CHECK(distance(a, expected, active) <= tolerance);
    CHECK(distance(t, expected_t, block_triangles(k, c.ib)) <= tolerance);
    CHECK(untouched(old, a, active));
    CHECK(untouched(poison, t, [&](index_t, index_t j) { return j < k; }));
  }
}

TEMPLATE_TEST_CASE("unmqr agrees with LAPACK from both sides", "", float, double) {
  using T = TestType;
  for (const Case& c : geqrt_cases)
    for (const Side side : {Side::left, Side::right})
      for (const Op op : {Op::none, Op::transpose})
        for (const index_t across : {0, 1, 21}) {
          CAPTURE(c.m, c.n, c.row, c.col, c.width, c.ib, side, op, across);
          const index_t m = c.m - c.row, k = std::min(m, c.width);
          Padded<T> v = random<T>(c.m, c.n, active_geqrt(c), 2), t(c.ib, c.width);
          geqrt(m, c.width, c.ib, v.at(c.row, c.col), v.ld, t.at(0, 0), t.ld);
          // Only V and the triangles of T may be read.
          for (index_t j = 0; j < c.n; ++j)
            for (index_t i = 0; i < c.m; ++i)
              if (i - c.row <= j - c.col || j >= c.col + k) v(i, j) = std::numeric_limits<T>::quiet_NaN();
          for (index_t j = 0; j < c.width; ++j)
            for (index_t i = 0; i < t.ld; ++i)
              if (!block_triangles(k, c.ib)(i, j)) t(i, j) = std::numeric_limits<T>::quiet_NaN();
          const bool left = side == Side::left;
          const Where active = [&](index_t i, index_t j) { return (left ? i : j) >= c.row; };
          Padded<T> C = random<T>(left ? c.m : across, left ? across : c.m, active, 3), expected = C, old = C;
          Padded<T> work = work_for<T>(c.width, across);
          Unmqr<T>::cpu({side, op, c.row, c.col, c.width, c.ib, m}, v.template as<In>(), t.template as<In>(),
                        C.template as<InOut>(), work.template as<Scratch>());
          gemqrt(side, op, left ? m : across, left ? across : m, k, c.ib, v.at(c.row, c.col), v.ld, t.at(0, 0), t.ld,
                 left ? expected.at(c.row, 0) : expected.at(0, c.row), expected.ld);
          CHECK(distance(C, expected, active) <= tolerance);
          CHECK(untouched(old, C, active));
        }
}

namespace {

/// Tile a holds R; tile b is joined to it.
struct Join {
  Shape a, b;
  index_t row, col, width, ib;
};
const Join joins[] = {
    {{1, 1}, {1, 1}, 0, 0, 1, 1},          {{5, 5}, {5, 5}, 0, 0, 5, 2},       {{32, 32}, {32, 32}, 0, 0, 32, 32},
    {{33, 33}, {33, 33}, 0, 0, 33, 33},    {{33, 33}, {20, 33}, 0, 0, 33, 8},  {{60, 50}, {40, 50}, 7, 9, 30, 13},
    {{70, 70}, {90, 70}, 5, 3, 60, 40},    {{9, 9}, {1, 9}, 0, 0, 9, 4},       {{12, 12}, {700, 12}, 2, 0, 10, 64},
    {{80, 100}, {45, 100}, 0, 10, 70, 70}, {{64, 64}, {16, 64}, 0, 0, 64, 64}, {{20, 20}, {0, 20}, 0, 0, 20, 8},
    {{40, 40}, {0, 40}, 0, 0, 40, 40},     {{40, 40}, {3, 40}, 0, 0, 40, 40},  {{33, 33}, {33, 33}, 0, 0, 33, 1},
};

Where active_r(const Join& c) {
  return [c](index_t i, index_t j) { return i >= c.row && i < c.row + c.width && j - c.col >= i - c.row; };
}
Where active_b(const Join& c, bool triangle) {
  const index_t height = triangle ? std::min(c.b.rows, c.width) : c.b.rows;
  return [=](index_t i, index_t j) { return j >= c.col && i < height && (!triangle || i <= j - c.col); };
}

}  // namespace

TEMPLATE_TEST_CASE("tpqrt agrees with LAPACK and leaves other elements unchanged", "", float, double) {
  TESELA_ON_EACH_VECTOR_TARGET();
  using T = TestType;
  for (const Join& c : joins)
    for (const bool triangle : {false, true}) {
      CAPTURE(c.a.rows, c.a.cols, c.b.rows, c.row, c.col, c.width, c.ib, triangle);
      const index_t height = triangle ? std::min(c.b.rows, c.width) : c.b.rows, rest = c.b.cols - c.col - c.width;
      const Where in_a = active_r(c), in_b = active_b(c, triangle);
      Padded<T> a = random<T>(c.a.rows, c.a.cols, in_a, 4), b = random<T>(c.b.rows, c.b.cols, in_b, 5);
      Padded<T> t(c.ib, c.width), expected_t(c.ib, c.width), work = work_for<T>(c.width, c.b.cols);
      Padded<T> old_a = a, old_b = b, poison = t, expected_a = a, expected_b = b;
      Tpqrt<T>::cpu({c.row, c.col, c.width, c.ib, triangle}, a.template as<InOut>(), b.template as<InOut>(),
                    t.template as<Out>(), work.template as<Scratch>());
      tpqrt(height, c.width, triangle ? height : 0, c.ib, expected_a.at(c.row, c.col), expected_a.ld,
            expected_b.at(0, c.col), expected_b.ld, expected_t.at(0, 0), expected_t.ld);
      tpmqrt(Side::left, Op::transpose, height, rest, c.width, triangle ? height : 0, c.ib, expected_b.at(0, c.col),
             expected_b.ld, expected_t.at(0, 0), expected_t.ld, expected_a.at(c.row, c.col + c.width), expected_a.ld,
             expected_b.at(0, c.col + c.width), expected_b.ld);
      CHECK(distance(a, expected_a, in_a) <= tolerance);
      CHECK(distance(b, expected_b, in_b) <= tolerance);
      if (height > 0) CHECK(distance(t, expected_t, block_triangles(c.width, c.ib)) <= tolerance);
      CHECK(untouched(old_a, a, in_a));
      CHECK(untouched(old_b, b, in_b));
      CHECK(untouched(poison, t, [](index_t, index_t) { return true; }));
      // Without rows nothing is annihilated, and Q = I.
      for (index_t j = 0; height == 0 && j < c.width; ++j)
        for (index_t i = 0; i <= j % c.ib; ++i) CHECK(t(i, j) == T(0));
    }
}

TEMPLATE_TEST_CASE("tpmqrt agrees with LAPACK from both sides", "", float, double) {
  using T = TestType;
  for (const Join& c : joins)
    for (const bool triangle : {false, true})
      for (const Side side : {Side::left, Side::right})
        for (const Op op : {Op::none, Op::transpose})
          for (const index_t across : {0, 1, 21}) {
            CAPTURE(c.a.rows, c.a.cols, c.b.rows, c.row, c.col, c.width, c.ib, triangle, side, op, across);
            const index_t height = triangle ? std::min(c.b.rows, c.width) : c.b.rows, l = triangle ? height : 0;
            const bool left = side == Side::left;
            Padded<T> r = random<T>(c.a.rows, c.a.cols, active_r(c), 6);
            Padded<T> v = random<T>(c.b.rows, c.b.cols, active_b(c, triangle), 7), t(c.ib, c.width);
            tpqrt(height, c.width, l, c.ib, r.at(c.row, c.col), r.ld, v.at(0, c.col), v.ld, t.at(0, 0), t.ld);
            for (index_t j = 0; j < c.b.cols; ++j)
              for (index_t i = 0; i < c.b.rows; ++i)
                if (j >= c.col + c.width) v(i, j) = std::numeric_limits<T>::quiet_NaN();
            for (index_t j = 0; j < c.width; ++j)
              for (index_t i = 0; i < t.ld; ++i)
                if (!block_triangles(c.width, c.ib)(i, j)) t(i, j) = std::numeric_limits<T>::quiet_NaN();
            const Where in_1 = [&](index_t i, index_t j) {
              const index_t at = left ? i : j;
              return at >= c.row && at < c.row + c.width;
            };
            const Where in_2 = [&](index_t i, index_t j) { return (left ? i : j) < height; };
            const auto tile = [&](index_t rows, const Where& active, unsigned seed) {
              return random<T>(left ? rows : across, left ? across : rows, active, seed);
            };
            Padded<T> c1 = tile(c.a.rows, in_1, 8), c2 = tile(c.b.rows, in_2, 9), work = work_for<T>(c.width, across);
            Padded<T> old1 = c1, old2 = c2, expected1 = c1, expected2 = c2;
            Tpmqrt<T>::cpu({side, op, c.row, c.col, c.width, c.ib, triangle}, v.template as<In>(), t.template as<In>(),
                           c1.template as<InOut>(), c2.template as<InOut>(), work.template as<Scratch>());
            tpmqrt(side, op, left ? height : across, left ? across : height, c.width, l, c.ib, v.at(0, c.col), v.ld,
                   t.at(0, 0), t.ld, left ? expected1.at(c.row, 0) : expected1.at(0, c.row), expected1.ld,
                   expected2.at(0, 0), expected2.ld);
            CHECK(distance(c1, expected1, in_1) <= tolerance);
            CHECK(distance(c2, expected2, in_2) <= tolerance);
            CHECK(untouched(old1, c1, in_1));
            CHECK(untouched(old2, c2, in_2));
          }
}

namespace {

template <class T>
TileMatrix<T> map(Runtime& runtime, Padded<T>& a) {
  return a.map(runtime, {a.m, a.n});
}

/// Runs each kernel in a graph of this runtime and directly on the CPU, and returns the largest difference. Requires
/// that other elements are unchanged.
template <class T>
double graph_and_direct(Runtime& runtime) {
  double worst = 0;
  const auto compare = [&](Padded<T>& x, Padded<T>& y, const Where& where) {
    const double d = distance(x, y, where);
    CHECK(d <= tolerance);
    worst = std::max(worst, d);
  };
  constexpr index_t across = 21;
  for (const Case& c : geqrt_cases) {
    CAPTURE(c.m, c.n, c.row, c.col, c.width, c.ib);
    const index_t k = std::min(c.m - c.row, c.width);
    const Shape space = qr_work(c.width, std::max(c.n, across), c.m, runtime.gpus() > 0);
    Padded<T> a = random<T>(c.m, c.n, active_geqrt(c), 1), t(c.ib, c.width), old = a, direct = a, direct_t = t;
    Padded<T> work(space.rows, space.cols);
    Geqrt<T>::cpu(geqrt_args<T>(c), direct.template as<InOut>(), direct_t.template as<Out>(),
                  work.template as<Scratch>());
    {
      const auto A = map(runtime, a), t_tile = map(runtime, t);
      Graph g(runtime);
      g.insert<Geqrt<T>>(geqrt_args<T>(c), A(0, 0), t_tile(0, 0), g.scratch<T>(space.rows, space.cols));
      REQUIRE(g.wait().ok());
    }
    compare(a, direct, active_geqrt(c));
    compare(t, direct_t, block_triangles(k, c.ib));
    CHECK(untouched(old, a, active_geqrt(c)));
    for (const Side side : {Side::left, Side::right})
      for (const Op op : {Op::none, adjoint<T>}) {
        CAPTURE(side, op);
        const bool left = side == Side::left;
        const Where active = [&](index_t i, index_t j) { return (left ? i : j) >= c.row; };
        Padded<T> C = random<T>(left ? c.m : across, left ? across : c.m, active, 3), old_C = C, direct_C = C;
        const typename Unmqr<T>::Args args{side, op, c.row, c.col, c.width, c.ib, c.m - c.row};
        Unmqr<T>::cpu(args, direct.template as<In>(), direct_t.template as<In>(), direct_C.template as<InOut>(),
                      work.template as<Scratch>());
        {
          const auto V = map(runtime, direct), t_tile = map(runtime, direct_t), C_tile = map(runtime, C);
          Graph g(runtime);
          g.insert<Unmqr<T>>(args, V(0, 0), t_tile(0, 0), C_tile(0, 0), g.scratch<T>(space.rows, space.cols));
          REQUIRE(g.wait().ok());
        }
        compare(C, direct_C, active);
        CHECK(untouched(old_C, C, active));
      }
  }
  for (const Join& c : joins)
    for (const bool triangle : {false, true}) {
      if (c.b.rows == 0) continue;
      CAPTURE(c.a.rows, c.a.cols, c.b.rows, c.row, c.col, c.width, c.ib, triangle);
      const index_t height = triangle ? std::min(c.b.rows, c.width) : c.b.rows;
      const Shape space = qr_work(c.width, std::max(c.b.cols, across), c.b.rows, runtime.gpus() > 0);
      const Where in_a = active_r(c), in_b = active_b(c, triangle);
      Padded<T> a = random<T>(c.a.rows, c.a.cols, in_a, 4), b = random<T>(c.b.rows, c.b.cols, in_b, 5);
      Padded<T> t(c.ib, c.width), work(space.rows, space.cols);
      Padded<T> old_a = a, old_b = b, direct_a = a, direct_b = b, direct_t = t;
      const typename Tpqrt<T>::Args args{c.row, c.col, c.width, c.ib, triangle};
      Tpqrt<T>::cpu(args, direct_a.template as<InOut>(), direct_b.template as<InOut>(), direct_t.template as<Out>(),
                    work.template as<Scratch>());
      {
        const auto A = map(runtime, a), B = map(runtime, b), t_tile = map(runtime, t);
        Graph g(runtime);
        g.insert<Tpqrt<T>>(args, A(0, 0), B(0, 0), t_tile(0, 0), g.scratch<T>(space.rows, space.cols));
        REQUIRE(g.wait().ok());
      }
      compare(a, direct_a, in_a);
      compare(b, direct_b, in_b);
      compare(t, direct_t, block_triangles(c.width, c.ib));
      CHECK(untouched(old_a, a, in_a));
      CHECK(untouched(old_b, b, in_b));
      for (const Side side : {Side::left, Side::right})
        for (const Op op : {Op::none, adjoint<T>}) {
          CAPTURE(side, op);
          const bool left = side == Side::left;
          const Where in_1 = [&](index_t i, index_t j) {
            const index_t at = left ? i : j;
            return at >= c.row && at < c.row + c.width;
          };
          const Where in_2 = [&](index_t i, index_t j) { return (left ? i : j) < height; };
          const auto tile = [&](index_t rows, const Where& active, unsigned seed) {
            return random<T>(left ? rows : across, left ? across : rows, active, seed);
          };
          Padded<T> c1 = tile(c.a.rows, in_1, 8), c2 = tile(c.b.rows, in_2, 9);
          Padded<T> old1 = c1, old2 = c2, direct1 = c1, direct2 = c2;
          const typename Tpmqrt<T>::Args update{side, op, c.row, c.col, c.width, c.ib, triangle};
          Tpmqrt<T>::cpu(update, direct_b.template as<In>(), direct_t.template as<In>(), direct1.template as<InOut>(),
                         direct2.template as<InOut>(), work.template as<Scratch>());
          {
            const auto V = map(runtime, direct_b), t_tile = map(runtime, direct_t), C1 = map(runtime, c1),
                       C2 = map(runtime, c2);
            Graph g(runtime);
            g.insert<Tpmqrt<T>>(update, V(0, 0), t_tile(0, 0), C1(0, 0), C2(0, 0),
                                g.scratch<T>(space.rows, space.cols));
            REQUIRE(g.wait().ok());
          }
          compare(c1, direct1, in_1);
          compare(c2, direct2, in_2);
          CHECK(untouched(old1, c1, in_1));
          CHECK(untouched(old2, c2, in_2));
        }
    }
  return worst;
}

}  // namespace

WORKERS_TEMPLATE_TEST_CASE("the QR kernels give the same results in a graph and by direct calls", "", FOUR_TYPES) {
  CHECK(graph_and_direct<TestType>(runtime) <= (runtime.gpus() == 0 ? 0 : tolerance));
}
