#include "tests/support/shared_runtime.hpp"
#include "tests/support/vector_targets.hpp"
#include <tesela/codelets/support/cufft.hpp>
#include <tesela/runtime/config.hpp>
#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/host_matrix.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <numbers>
#include <random>
#include <thread>

using namespace tesela;

namespace {

enum class What : std::uint8_t { forward, backward, real_to_complex, complex_to_real };

/// One transform of the columns of `in`; a complex number takes two elements of a column. If in and out are one tile,
/// the transform is in place. Complex transforms always are, after a copy.
template <class T>
struct Fourier {
  static constexpr auto name = "test_fft";
  struct Args {
    What what;
    index_t n = 0;
  };
  template <class... C>
  static void run(const Args& args, const InOut<T>& a, const InOut<T>& b, C&... context) {
    const auto complex = [](const Block<T>& x) { return reinterpret_cast<std::complex<T>*>(x.data); };
    switch (args.what) {
      case What::forward:
      case What::backward:
        return fft::transform(context...,
                              args.what == What::forward ? fft::Direction::forward : fft::Direction::backward, args.n,
                              a.cols, complex(a), a.ld / 2);
      case What::real_to_complex:
        return fft::real_to_complex(context..., args.n, a.cols, a.data, a.ld, complex(b), b.ld / 2);
      case What::complex_to_real:
        return fft::complex_to_real(context..., args.n, a.cols, complex(a), a.ld / 2, b.data, b.ld);
    }
  }
  static void cpu(const Args& args, InOut<T> a, InOut<T> b) { run(args, a, b); }
  static void cuda([[maybe_unused]] CudaContext& context, [[maybe_unused]] const Args& args,
                   [[maybe_unused]] InOut<T> a, [[maybe_unused]] InOut<T> b) {
#if TESELA_HAVE_CUDA
    run(args, a, b, context);
#endif
  }
};

using Sequence = std::vector<std::complex<double>>;

/// Returns the first `outputs` of sum_j x(j) w^(jk) in double precision.
Sequence direct(const Sequence& x, bool forward, std::size_t outputs) {
  const std::size_t n = x.size();
  Sequence roots(n), y(outputs);
  for (std::size_t i = 0; i < n; ++i)
    roots[i] = std::polar(1.0, (forward ? -2 : 2) * std::numbers::pi * static_cast<double>(i) / static_cast<double>(n));
  for (std::size_t k = 0; k < outputs; ++k)
    for (std::size_t j = 0; j < n; ++j) y[k] += x[j] * roots[j * k % n];
  return y;
}

double difference(const Sequence& a, const Sequence& b) {
  double squares = 0, size = 0;
  for (std::size_t i = 0; i < a.size(); ++i) squares += std::norm(a[i] - b[i]), size += std::norm(b[i]);
  return std::sqrt(squares / size);
}

/// Checks every transform of `count` sequences in tiles with padding, whose contents must not matter.
template <class T>
void check(Runtime& runtime, index_t n, index_t count) {
  const T nan = std::numeric_limits<T>::quiet_NaN();
  const index_t half = n / 2 + 1, ld = 2 * (n + 3);
  std::mt19937_64 random(static_cast<std::uint64_t>(n));
  std::uniform_real_distribution<double> uniform(-1, 1);
  HostMatrix<T> numbers(ld, count);
  for (index_t j = 0; j < count; ++j)
    for (index_t i = 0; i < ld; ++i) numbers(i, j) = static_cast<T>(uniform(random));

  for (const What what : {What::forward, What::backward, What::real_to_complex, What::complex_to_real}) {
    const bool to_real = what == What::complex_to_real, from_real = what == What::real_to_complex;
    const index_t in_used = from_real ? n : to_real ? 2 * half : 2 * n, out_used = to_real ? n : 2 * half;
    HostMatrix<T> a = numbers.clone(), b(ld, count);
    for (index_t j = 0; j < count; ++j) {
      for (index_t i = in_used; i < ld; ++i) a(i, j) = nan;
      for (index_t i = 0; i < ld; ++i) b(i, j) = nan;
      if (to_real) a(1, j) = 0;  // a self-conjugate coefficient is real
      if (to_real && n % 2 == 0) a(n + 1, j) = 0;
    }
    const HostMatrix<T> before = a.clone();
    {
      const auto A = TileMatrix<T>::map(runtime, a.data(), ld, count, ld, {ld, count});
      const auto B = TileMatrix<T>::map(runtime, b.data(), ld, count, ld, {ld, count});
      Graph g(runtime);
      g.insert<Fourier<T>>({what, n}, A(0, 0), B(0, 0));
      REQUIRE(g.wait().ok());
    }
    const bool in_place = what == What::forward || what == What::backward;
    const HostMatrix<T>& result = in_place ? a : b;
    double worst = 0;
    for (index_t j = 0; j < count; ++j) {
      Sequence x(static_cast<std::size_t>(n)), y(static_cast<std::size_t>(in_place ? n : to_real ? n : half));
      for (index_t i = 0; i < n; ++i) {
        auto& to = x[static_cast<std::size_t>(i)];
        if (from_real)
          to = before(i, j);
        else if (to_real && i >= half)
          to = std::conj(x[static_cast<std::size_t>(n - i)]);
        else
          to = {before(2 * i, j), before(2 * i + 1, j)};
      }
      for (std::size_t i = 0; i < y.size(); ++i) {
        const auto row = static_cast<index_t>(i);
        y[i] = to_real ? std::complex<double>(result(row, j))
                       : std::complex<double>(result(2 * row, j), result(2 * row + 1, j));
      }
      worst = std::max(worst, difference(y, direct(x, what == What::forward || from_real, y.size())));
      for (index_t i = in_place ? 2 * n : out_used; i < ld; ++i) CHECK(std::isnan(result(i, j)));
    }
    INFO("n " << n << " count " << count << " transform " << static_cast<int>(what) << " error " << worst);
    CHECK(worst <= 20 * std::numeric_limits<T>::epsilon());
  }
}

template <class T>
void check_all(Runtime& runtime) {
  for (const index_t n : {1, 2, 3, 97, 1000, 4096})
    for (const index_t count : {1, 3})
      if (n < 4096 || count == 1) check<T>(runtime, n, count);
}

}  // namespace

TEST_CASE("good sizes are the smallest even sizes without prime factors above 7", "[fft]") {
  const auto smooth = [](index_t n) {
    if (n % 2 != 0) return false;
    for (const index_t p : {2, 3, 5, 7})
      while (n % p == 0) n /= p;
    return n == 1;
  };
  for (const index_t n : {-5, 0, 1, 2}) CHECK(fft::good_size(n) == 2);
  index_t expected = 2;
  for (index_t n = 2; n <= 30000; ++n) {
    while (expected < n || !smooth(expected)) ++expected;
    REQUIRE(fft::good_size(n) == expected);
  }
  CHECK(fft::good_size(2 * 131072 - 1) == 262144);
}

CORES_TEMPLATE_TEST_CASE("transforms agree with the sums that define them", "[fft]", float, double) {
  check_all<TestType>(runtime);
}

CORES_TEMPLATE_TEST_CASE("transforms are correct on each vector unit", "[fft]", float, double) {
  TESELA_ON_EACH_VECTOR_TARGET();
  for (const index_t n : {2, 97, 1000}) check<TestType>(runtime, n, 2);
}

TEST_CASE("several threads create and use plans at once, and real transforms work in place", "[fft]") {
  std::vector<std::thread> threads;
  std::vector<double> worst(4);
  for (std::size_t t = 0; t < worst.size(); ++t)
    threads.emplace_back([&error = worst[t]] {
      for (index_t n = 200; n < 240; ++n) {
        std::vector<double> x(static_cast<std::size_t>(2 * (n / 2 + 1)));
        for (index_t i = 0; i < n; ++i) x[static_cast<std::size_t>(i)] = static_cast<double>(i % 7);
        auto* const y = reinterpret_cast<std::complex<double>*>(x.data());
        fft::real_to_complex(n, 1, x.data(), 2 * (n / 2 + 1), y, n / 2 + 1);
        fft::complex_to_real(n, 1, y, n / 2 + 1, x.data(), 2 * (n / 2 + 1));
        for (index_t i = 0; i < n; ++i)
          error = std::max(
              error, std::abs(x[static_cast<std::size_t>(i)] / static_cast<double>(n) - static_cast<double>(i % 7)));
      }
    });
  for (std::thread& thread : threads) thread.join();
  for (const double error : worst) CHECK(error <= 1e-13);
}

TEMPLATE_TEST_CASE("transforms are correct on a GPU", "[fft][gpu]", float, double) {
  test::require_gpu();
  for (int again = 0; again < 2; ++again) {  // plans outlive a Runtime
    Runtime runtime({.cpus = 0, .gpus = 1, .streams_per_gpu = 2});
    check_all<TestType>(runtime);
  }
  Runtime runtime({.cpus = 0, .gpus = 1});
  for (index_t n = 20; n < 50; ++n) check<TestType>(runtime, n, 2);  // more plans than the cache keeps
}

GPU_TEMPLATE_TEST_CASE("transforms are correct under a sanitizer", "[fft][sanitize]", float, double) {
  for (const index_t n : {2, 30}) check<TestType>(runtime, n, 2);
}
