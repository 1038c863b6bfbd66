#include "tests/support/long_tridiagonal.hpp"
#include "tests/support/test.hpp"
#include "tests/support/vector_targets.hpp"
#include <tesela/algorithms/tridiagonal/tridiagonal.hpp>
#include <tesela/tiles/tile_matrix.hpp>

using namespace tesela;
using test::LongTridiagonal;

namespace {

/// Rows of a stretch, and the decay of unknowns from row to row at which its ends do not affect each other.
template <class T>
constexpr index_t stretch = sizeof(T) == 8 ? 16 * 248 : 32 * 240;
template <class T>
constexpr double decay_bound = sizeof(T) == 8 ? 0.8365 : 0.9887;

template <class T>
std::vector<T> solve(Runtime& runtime, const LongTridiagonal<T>& s, index_t mb, bool periodic, Status& status) {
  LongTridiagonal<T> copy = s;
  if (!periodic) copy.dl.front() = copy.du.back() = std::numeric_limits<T>::quiet_NaN();
  const auto map = [&](std::vector<T>& v) { return TileMatrix<T>::map(runtime, v.data(), s.n(), 1, s.n(), {mb, 1}); };
  const TileMatrix<T> B = map(copy.b);
  {
    Graph g(runtime);
    tridiagonal_solve(g, {map(copy.dl), map(copy.d), map(copy.du)}, B, {SystemsIn::columns, periodic});
    status = g.wait();
  }
  B.bring_home();
  return copy.b;
}

/// Returns the number of rows that the reduction alone fills in.
template <class T>
index_t filled_in(const LongTridiagonal<T>& s) {
  using Kernel = kernels::TridiagonalReduceAndSolve<T>;
  using Segment = kernels::tridiagonal::Segment<T>;
  LongTridiagonal<T> copy = s;
  const index_t n = s.n(), segments = kernels::tridiagonal::work_segments(n);
  std::vector<Segment> work(static_cast<std::size_t>(segments)), ends(1);
  int info = 0;
  const auto block = [](auto as, auto* data, index_t rows) {
    as.data = data, as.rows = as.ld = rows, as.cols = 1;
    return as;
  };
  Kernel::cpu({SystemsIn::columns, false, false, n}, block(In<T>{}, copy.dl.data(), n),
              block(In<T>{}, copy.d.data(), n), block(In<T>{}, copy.du.data(), n), block(InOut<T>{}, copy.b.data(), n),
              block(Out<Segment>{}, work.data(), segments), block(Out<Segment>{}, ends.data(), 1),
              block(InOut<int>{}, &info, 1));
  CHECK(info == 0);
  index_t changed = 0;
  for (std::size_t i = 0; i < s.b.size(); ++i) changed += copy.b[i] != s.b[i] ? 1 : 0;
  return changed;
}

template <class T>
constexpr double epsilon = static_cast<double>(std::numeric_limits<T>::epsilon());

}  // namespace

TEMPLATE_TEST_CASE("rows are read once if the stretches at both sides determine them", "", float, double) {
  TESELA_ON_EACH_VECTOR_TARGET();
  using S = LongTridiagonal<TestType>;
  constexpr index_t rows = stretch<TestType>, n = 11 * rows + 123;
  // All but the first stretch, the last full one, and the remaining rows.
  CHECK(filled_in(S::random(n, S::Kind::dominant)) == 9 * rows);
  CHECK(filled_in(S::random(8 * rows - 1, S::Kind::dominant)) == 0);  // too short for a gain
  S s = S::random(n, S::Kind::dominant);
  for (const double decay : {0.5, 0.97 * decay_bound<TestType>, 0.999 * decay_bound<TestType>}) {
    for (std::size_t i = 0; i < s.d.size(); ++i)
      s.dl[i] = s.du[i] = -1, s.d[i] = static_cast<TestType>(decay + 1 / decay);
    CAPTURE(decay);
    CHECK(filled_in(s) == 9 * rows);
  }
  for (const double decay : {1.003 * decay_bound<TestType>, 0.999, 1.0}) {
    for (std::size_t i = 0; i < s.d.size(); ++i) s.d[i] = static_cast<TestType>(decay + 1 / decay);
    CAPTURE(decay);
    CHECK(filled_in(s) == 0);
  }
  // One coupled stretch: the rows before it are filled in.
  s = S::random(n, S::Kind::dominant);
  for (index_t i = 5 * rows; i < 6 * rows; ++i)
    s.d[static_cast<std::size_t>(i)] = 2, s.dl[static_cast<std::size_t>(i)] = s.du[static_cast<std::size_t>(i)] = -1;
  CHECK(filled_in(s) == 3 * rows);
}

TEMPLATE_TEST_CASE("long systems are solved for any coupling", "", float, double) {
  TESELA_ON_EACH_VECTOR_TARGET();
  using S = LongTridiagonal<TestType>;
  Runtime runtime({.gpus = 0});
  constexpr index_t rows = stretch<TestType>;
  for (const index_t n : {8 * rows, 8 * rows + 1, 20 * rows + 77})
    for (const index_t mb : {n, 9 * rows, 10 * rows + 5})
      for (const bool periodic : {false, true})
        for (const auto kind : {S::Kind::dominant, S::Kind::uniform}) {
          const S s = S::random(n, kind);
          Status status;
          const auto x = solve(runtime, s, mb, periodic, status);
          CAPTURE(n, mb, periodic, static_cast<int>(kind));
          CHECK(status.ok());
          CHECK(s.error(x, periodic) <= 1e5 * epsilon<TestType>);
        }
}

TEMPLATE_TEST_CASE("slowly decaying unknowns are not cut off", "", float, double) {
  TESELA_ON_EACH_VECTOR_TARGET();
  using S = LongTridiagonal<TestType>;
  Runtime runtime({.gpus = 0});
  constexpr index_t rows = stretch<TestType>, n = 12 * rows;
  const double size = std::ldexp(1.0, sizeof(TestType) == 8 ? 900 : 100);
  const long double least = std::ldexp(1.0L, sizeof(TestType) == 8 ? -100 : -20);  // for results of an underflow
  for (const double decay : {0.9 * decay_bound<TestType>, 0.999 * decay_bound<TestType>, 1.001 * decay_bound<TestType>,
                             1.005 * decay_bound<TestType>, 0.995})
    for (const index_t place : {index_t{0}, rows / 2, 3 * rows - 1, 3 * rows, 5 * rows + 7, n - 1})
      for (const index_t mb : {n, n / 2}) {
        const S s = S::decaying(n, decay, place, size);
        Status status;
        const auto x = solve(runtime, s, mb, false, status);
        CAPTURE(decay, place, mb);
        CHECK(status.ok());
        CHECK(s.error(x, false, least) <= 1e3 * epsilon<TestType>);
      }
}

TEMPLATE_TEST_CASE("a breakdown in a stretch is reported", "", float, double) {
  TESELA_ON_EACH_VECTOR_TARGET();
  using S = LongTridiagonal<TestType>;
  using Limits = std::numeric_limits<TestType>;
  Runtime runtime({.gpus = 0});
  constexpr index_t rows = stretch<TestType>, n = 10 * rows + 11;
  for (const index_t row : {index_t{0}, index_t{1}, rows - 1, rows, 2 * rows + 100, 3 * rows - 1, 3 * rows, n - 1})
    for (const index_t mb : {n, n / 2 + 5}) {
      const auto i = static_cast<std::size_t>(row);
      Status status;
      CAPTURE(row, mb);
      S s = S::random(n, S::Kind::dominant);
      s.dl[i] = s.d[i] = s.du[i] = 0;
      solve(runtime, s, mb, false, status);
      CHECK((std::abs(status.info - (row + 1)) <= 1 || status.info == row / mb * mb + 1));
      for (const TestType bad : {Limits::quiet_NaN(), Limits::infinity()})
        for (auto* v : {&s.b, &s.d}) {
          s = S::random(n, S::Kind::dominant);
          (*v)[i] = bad;
          solve(runtime, s, mb, false, status);
          CHECK(status.info > 0);
        }
      s = S::random(n, S::Kind::dominant);  // only x(row) overflows
      s.dl[i] = s.du[i] = 0;
      if (row > 0) s.du[i - 1] = 0;
      if (row + 1 < n) s.dl[i + 1] = 0;
      s.d[i] = Limits::min(), s.b[i] = Limits::max();
      solve(runtime, s, mb, false, status);
      CHECK(status.info > 0);
    }
}
