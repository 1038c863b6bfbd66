#include "tests/support/long_tridiagonal.hpp"
#include "tests/support/machine.hpp"
#include "tools/peers/device.hpp"
#include <tesela/codelets/tridiagonal/tridiagonal.hpp>

#include <memory>

#if TESELA_HAVE_CUDA
#include <tesela/codelets/tridiagonal/internal/tridiagonal_launch.hpp>

#include <cuda_runtime_api.h>
#endif

using namespace tesela;
using test::LongTridiagonal;

// Solves in one pass over GPU memory, and systems for which one pass is not sufficient.

#if TESELA_HAVE_CUDA
namespace {

/// Rows filled in by a block, rows between two positions where it tests the remaining coupling, and the number of
/// samples.
constexpr index_t own_rows = 2040, group = 68, samples = 256;
template <class T>
constexpr double epsilon = static_cast<double>(std::numeric_limits<T>::epsilon());
/// Decay of the unknowns from row to row that one pass requires.
template <class T>
const double decay_bound = std::pow(epsilon<T> / 256, 1.0 / group);

template <class T>
struct Answer {
  std::vector<T> x;
  int info = 0;
  kernels::tridiagonal::WindowCounts windows{};
};

void check(cudaError_t status) { REQUIRE(status == cudaSuccess); }

template <class T>
std::unique_ptr<bench::DeviceMemory> upload(const std::vector<T>& v) {
  auto memory = std::make_unique<bench::DeviceMemory>(v.size() * sizeof(T));
  check(cudaMemcpy(memory->template as<T>(), v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice));
  return memory;
}

/// Solves `copies` equal systems with a gap between them by direct calls of the kernels.
template <class T>
Answer<T> solve(LongTridiagonal<T> s, index_t copies = 1, index_t gap = 0) {
  using kernels::tridiagonal::Segment;
  const index_t n = s.n(), ld = n + gap, of_work = kernels::tridiagonal::work_segments(n);
  s.dl.front() = s.du.back() = std::numeric_limits<T>::quiet_NaN();
  const T sentinel = 7;
  const auto spread = [&](const std::vector<T>& v) {
    std::vector<T> all(static_cast<std::size_t>(ld * copies), sentinel);
    for (index_t c = 0; c < copies; ++c) std::copy(v.begin(), v.end(), all.begin() + c * ld);
    return all;
  };
  const auto dl = upload(s.dl), d = upload(spread(s.d)), du = upload(spread(s.du)), b = upload(spread(s.b));
  const std::vector<Segment<T>> nothing(static_cast<std::size_t>(of_work * copies));
  const auto work = upload(nothing);
  const auto info = upload(std::vector<int>{0});
  const kernels::tridiagonal::DeviceRows<T> rows{dl->template as<T>(),
                                                 d->template as<T>(),
                                                 du->template as<T>(),
                                                 b->template as<T>(),
                                                 {1, 0},
                                                 {1, ld},
                                                 {1, ld},
                                                 {1, ld},
                                                 n,
                                                 copies,
                                                 false,
                                                 false,
                                                 n};
  REQUIRE(kernels::tridiagonal::solve_in_one_pass<T>(nullptr, rows, false, work->template as<Segment<T>>(), of_work,
                                                     info->template as<int>()) == cudaSuccess);
  check(cudaDeviceSynchronize());
  Answer<T> answer;
  std::vector<T> all(static_cast<std::size_t>(ld * copies));
  check(cudaMemcpy(all.data(), b->template as<T>(), all.size() * sizeof(T), cudaMemcpyDeviceToHost));
  check(cudaMemcpy(&answer.info, info->template as<int>(), sizeof(int), cudaMemcpyDeviceToHost));
  check(cudaMemcpy(&answer.windows, &work->template as<Segment<T>>()->lower, sizeof(answer.windows),
                   cudaMemcpyDeviceToHost));
  answer.x.assign(all.begin(), all.begin() + n);
  for (index_t c = 0; c < copies; ++c) {
    const std::vector<T> x(all.begin() + c * ld, all.begin() + c * ld + n);
    if (answer.info == 0 && answer.windows.left == 0) CHECK(x == answer.x);
    if (answer.info == 0 && c > 0) CHECK(s.error(x, false) <= 1000 * epsilon<T>);
    bool kept = true;
    for (index_t i = n; i < ld; ++i) kept = kept && all[static_cast<std::size_t>(i + c * ld)] == sentinel;
    CHECK(kept);
  }
  return answer;
}

template <class T>
void make_decay(LongTridiagonal<T>& s, double decay, index_t first, index_t end) {
  for (index_t i = first; i < end; ++i) {
    const auto k = static_cast<std::size_t>(i);
    s.dl[k] = s.du[k] = -1, s.d[k] = static_cast<T>(decay + 1 / decay);
  }
}

}  // namespace

TEMPLATE_TEST_CASE("a GPU reads rows once if they depend only on their neighbours", "[gpu]", float, double) {
  test::require_gpu();
  using S = LongTridiagonal<TestType>;
  for (const index_t n : {index_t{1089}, own_rows - 1, own_rows, own_rows + 1, own_rows + group, 2 * own_rows + 1,
                          index_t{100001}, index_t{1000002}})
    for (const index_t copies : {1, 3}) {
      CAPTURE(n, copies);
      const S s = S::random(n, S::Kind::dominant);
      const auto answer = solve(s, copies, 5);
      CHECK(answer.info == 0);
      CHECK(answer.windows.left == 0);
      CHECK(s.error(answer.x, false) <= 100 * epsilon<TestType>);
    }
  S s(50000);
  std::fill(s.b.begin(), s.b.end(), TestType(1));  // so that all elements of X have one size
  for (const double decay : {0.3, 0.9 * decay_bound<TestType>, 0.96 * decay_bound<TestType>}) {
    make_decay(s, decay, 0, s.n());
    CAPTURE(decay);
    const auto answer = solve(s);
    CHECK(answer.windows.left == 0);
    CHECK(s.error(answer.x, false) <= 100 * epsilon<TestType>);
  }
  for (const double decay : {1.03 * decay_bound<TestType>, 0.999, 1.0}) {
    make_decay(s, decay, 0, s.n());
    CAPTURE(decay);
    const auto answer = solve(s);
    CHECK(answer.windows.left > 0);
    CHECK(s.error(answer.x, false) <= 1000 * epsilon<TestType>);
  }
}

TEMPLATE_TEST_CASE("a GPU does not cut off slowly decaying unknowns", "[gpu]", float, double) {
  test::require_gpu();
  using S = LongTridiagonal<TestType>;
  const index_t n = 20 * own_rows + 77;
  const long double least = std::ldexp(1.0L, sizeof(TestType) == 8 ? -400 : -50);
  for (const double factor : {0.5, 0.9, 0.97, 1.0, 1.03, 1.1, 1.5})
    for (const index_t place : {index_t{0}, own_rows / 2, 3 * own_rows - 1, 3 * own_rows, 5 * own_rows + 7, n - 1}) {
      const double decay = factor * decay_bound<TestType>;
      if (decay > 0.999) continue;
      const S s = S::decaying(n, decay, place, 1);
      const auto answer = solve(s);
      CAPTURE(decay, place, answer.windows.left);
      CHECK(answer.info == 0);
      CHECK(s.error(answer.x, false, least) <= 1e5 * epsilon<TestType>);
    }
}

TEMPLATE_TEST_CASE("a GPU overwrites early results if rows couple over long distances", "[gpu]", float, double) {
  test::require_gpu();
  using S = LongTridiagonal<TestType>;
  const index_t n = (samples + 40) * own_rows + 11;
  for (const index_t first : {index_t{100}, (samples - 1) * own_rows + 5, (samples + 20) * own_rows, n - own_rows}) {
    S s = S::random(n, S::Kind::dominant);
    make_decay(s, 1.0, first, std::min(first + 3 * group, n));
    const auto answer = solve(s);
    CAPTURE(first, answer.windows.left);
    CHECK(answer.info == 0);
    CHECK(answer.windows.left > 0);
    CHECK(s.error(answer.x, false) <= 100 * epsilon<TestType>);
    CHECK(solve(s).x == answer.x);
  }
}

TEMPLATE_TEST_CASE("a GPU reports a breakdown in a window", "[gpu]", float, double) {
  test::require_gpu();
  using S = LongTridiagonal<TestType>;
  using Limits = std::numeric_limits<TestType>;
  const index_t n = 5 * own_rows + 11;
  for (const index_t row :
       {index_t{0}, index_t{1}, group - 1, group, own_rows - 1, own_rows, 2 * own_rows + 100, n - 1}) {
    const auto i = static_cast<std::size_t>(row);
    CAPTURE(row);
    S s = S::random(n, S::Kind::dominant);
    s.dl[i] = s.d[i] = s.du[i] = 0;
    CHECK(solve(s).info > 0);
    for (const TestType bad : {Limits::quiet_NaN(), Limits::infinity()})
      for (auto* v : {&s.b, &s.d}) {
        s = S::random(n, S::Kind::dominant);
        (*v)[i] = bad;
        CHECK(solve(s).info > 0);
      }
    s = S::random(n, S::Kind::dominant);  // only x(row) overflows
    s.dl[i] = s.du[i] = 0;
    if (row > 0) s.du[i - 1] = 0;
    if (row + 1 < n) s.dl[i + 1] = 0;
    s.d[i] = Limits::min(), s.b[i] = Limits::max();
    CHECK(solve(s).info > 0);
  }
}

TEMPLATE_TEST_CASE("one pass and two passes over rows on a GPU work under a sanitizer", "[gpu][sanitize]", float,
                   double) {
  test::require_gpu();
  using S = LongTridiagonal<TestType>;
  for (const index_t n : {2 * own_rows + 12, 3 * own_rows + 1}) {
    S s = S::random(n, S::Kind::dominant);
    auto answer = solve(s, 2, 1);  // under a slow tool a block may stop waiting, and two passes follow
    CHECK(s.error(answer.x, false) <= 100 * epsilon<TestType>);
    make_decay(s, 1.0, own_rows + 100, own_rows + 100 + 3 * group);
    answer = solve(s, 2, 1);
    CHECK(answer.windows.left > 0);
    CHECK(s.error(answer.x, false) <= 100 * epsilon<TestType>);
  }
}
#else
TEST_CASE("a GPU reads rows once if they depend only on their neighbours", "[gpu]") { test::require_gpu(); }
#endif
