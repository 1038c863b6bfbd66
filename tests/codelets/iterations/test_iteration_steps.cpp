#include "tests/support/machine.hpp"
#include "tests/support/run_kernel.hpp"
#include "tests/support/shared_runtime.hpp"
#include "tests/support/vector_targets.hpp"
#include <tesela/algorithms/eigen/eigen_matrices.hpp>
#include <tesela/codelets/iterations/internal/steps_inl.hpp>
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/tiles/filled.hpp>

#include <barrier>
#include <thread>

using namespace tesela;
using namespace tesela::kernels;

namespace {

constexpr StepFactor factors[] = {StepFactor::givens, StepFactor::householder, StepFactor::gram_schmidt,
                                  StepFactor::mgs,    StepFactor::cgs2,        StepFactor::cholesky_qr2};

template <class P, class T>
P block(T* data, index_t rows, index_t cols, index_t ld) {
  P p;
  p.data = data, p.rows = rows, p.cols = cols, p.ld = ld;
  return p;
}

template <class T>
HostMatrix<T> matrix(const char* kind, index_t n) {
  const SymmetricChoice choice = parse_symmetric_kind(kind);
  const SymmetricMatrix a(choice.kind, n, choice.parameter, 3);
  return filled<T>({n, n}, [&](index_t i, index_t j) { return a.element<T>(i, j); });
}

template <class T>
struct Run {
  HostMatrix<T> d, p;
  IterationProgress progress;
};

/// Runs QrSteps on a dense matrix, as a task if there is a runtime.
template <class T>
Run<T> qr_steps(const HostMatrix<T>& a, typename QrSteps<T>::Args args, Runtime* where = nullptr) {
  const index_t n = a.rows();
  Run<T> r{a.clone(), filled<T>({n, n}, [](index_t i, index_t j) { return T(i == j ? 1 : 0); }), {}};
  std::vector<T> work(static_cast<std::size_t>(iteration_work_size(n, n - 1, n)));
  test::run_kernel<QrSteps<T>>(
      where, args, block<InOut<T>>(r.d.data(), n, n, n), block<InOut<T>>(r.p.data(), n, n, n),
      block<InOut<IterationProgress>>(&r.progress, 1, 1, 1),
      block<Scratch<T>>(work.data(), static_cast<index_t>(work.size()), 1, static_cast<index_t>(work.size())));
  return r;
}

template <class T>
Run<T> lr_steps(const HostMatrix<T>& a, typename LrSteps<T>::Args args, Runtime* where = nullptr) {
  const index_t n = a.rows();
  Run<T> r{a.clone(), {}, {}};
  std::vector<T> work(static_cast<std::size_t>(iteration_work_size(n, n - 1, 1)));
  test::run_kernel<LrSteps<T>>(
      where, args, block<InOut<T>>(r.d.data(), n, n, n), block<InOut<IterationProgress>>(&r.progress, 1, 1, 1),
      block<Scratch<T>>(work.data(), static_cast<index_t>(work.size()), 1, static_cast<index_t>(work.size())));
  return r;
}

template <class T>
double distance(const HostMatrix<T>& a, const HostMatrix<T>& b) {
  double most = 0;
  for (index_t i = 0; i < a.size(); ++i) {
    const double off = std::abs(static_cast<double>(a.data()[i]) - static_cast<double>(b.data()[i]));
    most = off <= most ? most : off;
  }
  return most;
}

/// If a shift makes D almost singular, rounding decides the signs of some columns of Q, so magnitudes are compared.
template <class T>
double distance_up_to_signs(const HostMatrix<T>& a, const HostMatrix<T>& b) {
  const auto sizes = [](const HostMatrix<T>& of) {
    return filled<T>({of.rows(), of.cols()}, [&](index_t i, index_t j) { return std::abs(of(i, j)); });
  };
  return distance(sizes(a), sizes(b));
}

/// Returns R Q for D = Q R by LAPACK, with a positive diagonal of R.
HostMatrix<double> reference_step(const HostMatrix<double>& a) {
  const index_t n = a.rows();
  HostMatrix<double> qr = a.clone(), d(n, n);
  std::vector<double> tau(static_cast<std::size_t>(n));
  lapack::geqrf(n, n, qr.data(), n, tau.data());
  HostMatrix<double> q = filled<double>({n, n}, [](index_t i, index_t j) { return i == j ? 1.0 : 0.0; });
  lapack::ormqr(Op::none, n, n, n, qr.data(), n, tau.data(), q.data(), n);
  const auto sign = [&](index_t i) { return qr(i, i) < 0 ? -1.0 : 1.0; };
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < n; ++i) {
      double sum = 0;
      for (index_t k = i; k < n; ++k) sum += qr(i, k) * q(k, j);
      d(i, j) = sign(i) * sum * sign(j);
    }
  return d;
}

/// Threads of the host in place of a thread block of a GPU; each group is one thread.
template <class T>
struct Threads {
  static constexpr bool alone = false;
  static constexpr index_t lane = 0, lanes = 1;
  index_t rank, size, group, groups;
  std::barrier<>* all;

  const Threads& narrow() const { return *this; }
  void sync() const { all->arrive_and_wait(); }
  void together() const {}
  T sum(T value) const { return value; }
  T dot(index_t n, const T* x, const T* y) const {
    T s = 0;
    for (index_t i = 0; i < n; ++i) s += x[i] * y[i];
    return s;
  }
  void axpy(index_t n, T alpha, const T* x, T* y) const {
    for (index_t i = 0; i < n; ++i) y[i] += alpha * x[i];
  }
  void scale(index_t n, T alpha, T* x) const {
    for (index_t i = 0; i < n; ++i) x[i] *= alpha;
  }
  void product(index_t m, index_t n, index_t k, const T* a, index_t lda, const T* b, index_t ldb, T* c,
               index_t ldc) const {
    for (index_t j = group; j < n; j += groups)
      for (index_t i = 0; i < m; ++i) c[i + j * ldc] = 0;
    for (index_t j = group; j < n; j += groups)
      for (index_t q = 0; q < k; ++q) axpy(m, b[q + j * ldb], a + q * lda, c + j * ldc);
    sync();
  }
};

template <class T, class Loop>
void by_threads(index_t count, const Loop& loop) {
  std::barrier<> all(count);
  std::vector<std::thread> threads;
  for (index_t t = 0; t < count; ++t) threads.emplace_back([&, t] { loop(Threads<T>{t, count, t, count, &all}); });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

TEST_CASE("A QR step computes R Q of D = Q R with every factorization") {
  TESELA_ON_EACH_VECTOR_TARGET();
  for (const index_t n : {1, 2, 3, 5, 8, 9, 17, 31, 64})
    for (const StepFactor factor : factors) {
      CAPTURE(n, static_cast<int>(factor));
      const HostMatrix<double> a = matrix<double>("geometric:10", n);
      const Run<double> one = qr_steps<double>(a, {.factor = factor, .positive = true, .steps = 1});
      CHECK(distance(one.d, reference_step(a)) <= 1e-13);
      // P D P^T must be A.
      HostMatrix<double> back(n, n);
      for (index_t j = 0; j < n; ++j)
        for (index_t i = 0; i < n; ++i) {
          double sum = 0;
          for (index_t k = 0; k < n; ++k)
            for (index_t l = 0; l < n; ++l) sum += one.p(i, k) * one.d(k, l) * one.p(j, l);
          back(i, j) = sum;
        }
      CHECK(distance(back, a) <= 1e-13);
      CHECK(one.progress.steps == (n > 1 ? 1 : 0));
    }
}

TEST_CASE("Reflectors and rotations are orthogonal if squares of elements underflow") {
  const index_t n = 40;
  const HostMatrix<float> a = matrix<float>("graded", n);
  for (const StepFactor factor : {StepFactor::givens, StepFactor::householder}) {
    const Run<float> r = qr_steps<float>(a, {.factor = factor, .steps = 5});
    for (index_t j = 0; j < n; ++j)
      for (index_t i = 0; i <= j; ++i) {
        double sum = 0;
        for (index_t k = 0; k < n; ++k) sum += static_cast<double>(r.p(k, i)) * static_cast<double>(r.p(k, j));
        CHECK(std::abs(sum - (i == j ? 1 : 0)) <= 5e-6);
      }
  }
}

TEST_CASE("Two Cholesky LR steps equal one QR step") {
  TESELA_ON_EACH_VECTOR_TARGET();
  for (const index_t n : {2, 3, 10, 33}) {
    const HostMatrix<double> a = matrix<double>("geometric:100", n);
    const Run<double> qr = qr_steps<double>(a, {.positive = true, .steps = 1}),
                      lr = lr_steps<double>(a, {.cholesky = true, .steps = 2});
    CHECK(qr.progress.steps == 1);
    CHECK(lr.progress.steps == 2);
    CAPTURE(n);
    CHECK(distance(qr.d, lr.d) <= 1e-13);
  }
}

// Equations 2.12 to 2.14 and Algorithm 6 of the Cinvestav thesis (docs/sources.md).
TEST_CASE("LR steps are Crout's elimination with l_ii = 1 as printed, then D = U L") {
  const index_t n = 12;
  HostMatrix<double> d = matrix<double>("geometric:10", n), l(n, n), u(n, n);
  const HostMatrix<double> a = d.clone();
  for (index_t step = 1; step < 4; ++step) {
    for (index_t j = 0; j < n; ++j)
      for (index_t i = 0; i < n; ++i) {
        double sum = d(i, j);
        for (index_t k = 0; k < std::min(i, j); ++k) sum -= l(i, k) * u(k, j);
        if (i <= j) u(i, j) = sum;
        l(i, j) = i == j ? 1 : i > j ? sum / u(j, j) : 0;
      }
    for (index_t j = 0; j < n; ++j)
      for (index_t i = 0; i < n; ++i) {
        d(i, j) = 0;
        for (index_t k = std::max(i, j); k < n; ++k) d(i, j) += u(i, k) * l(k, j);
      }
    CAPTURE(step);
    CHECK(distance(lr_steps<double>(a, {.steps = step}).d, d) <= 1e-13);
    CHECK(std::abs(d(0, n - 1) - d(n - 1, 0)) > 1e-6);  // so that the transpose differs
  }
}

TEST_CASE("A band has the same steps as the full matrix") {
  TESELA_ON_EACH_VECTOR_TARGET();
  for (const index_t n : {2, 3, 8, 40})
    for (const index_t b : {1, 2, 3, 7}) {
      if (b >= n) continue;
      CAPTURE(n, b);
      const HostMatrix<double> a = matrix<double>(("band:" + std::to_string(b)).c_str(), n);
      for (const bool wilkinson : {false, true}) {
        const Run<double> whole =
            qr_steps<double>(a, {.wilkinson = wilkinson, .deflate = wilkinson, .steps = 5, .negligible = 1e-10});
        const index_t rows = 3 * b + 1;
        HostMatrix<double> band = HostMatrix<double>::zeros(rows, n),
                           p = filled<double>({n, n}, [](index_t i, index_t j) { return i == j ? 1.0 : 0.0; });
        for (index_t j = 0; j < n; ++j)
          for (index_t i = 0; i < n; ++i)
            if (std::abs(i - j) <= b) band(b + i - j, j) = a(i, j);
        std::vector<double> work(static_cast<std::size_t>(iteration_work_size(n, b, n)), std::nan(""));
        IterationProgress progress;
        QrSteps<double>::cpu(
            {.wilkinson = wilkinson, .deflate = wilkinson, .half_width = b, .steps = 5, .negligible = 1e-10},
            block<InOut<double>>(band.data(), rows, n, rows), block<InOut<double>>(p.data(), n, n, n),
            block<InOut<IterationProgress>>(&progress, 1, 1, 1),
            block<Scratch<double>>(work.data(), static_cast<index_t>(work.size()), 1, 1));
        CHECK(progress.steps == whole.progress.steps);
        CHECK(progress.active == whole.progress.active);
        CHECK(distance(p, whole.p) <= 1e-12);
        for (index_t j = 0; j < n; ++j)
          for (index_t i = 0; i < n; ++i)
            CHECK(std::abs((std::abs(i - j) <= b ? band(b + i - j, j) : 0) - whole.d(i, j)) <= 1e-12);
      }
    }
}

TEST_CASE("Steps stop at convergence and report a zero pivot") {
  const HostMatrix<double> corner =
      filled<double>({3, 3}, [](index_t i, index_t j) { return i + j == 2 && i != j ? 1.0 : 0.0; });
  CHECK(qr_steps<double>(corner, {.stop = StopTest::subdiagonal, .steps = 9}).progress.converged);
  CHECK(qr_steps<double>(corner, {.steps = 9}).progress.steps == 9);
  const Run<double> deflated =
      qr_steps<double>(corner, {.wilkinson = true, .deflate = true, .steps = 9, .negligible = 1e-15});
  CHECK(deflated.progress.converged);
  CHECK(deflated.progress.deflations == 2);
  // A dependent column, a zero leading minor, and a negative one.
  const HostMatrix<double> ones = filled<double>({4, 4}, [](index_t, index_t) { return 1.0; });
  CHECK(qr_steps<double>(ones, {.factor = StepFactor::mgs, .steps = 9}).progress.broken == 2);
  CHECK(lr_steps<double>(ones, {.steps = 9}).progress.broken == 2);
  CHECK(lr_steps<double>(corner, {.steps = 9}).progress.broken == 1);
  const HostMatrix<double> indefinite = filled<double>({2, 2}, [](index_t i, index_t j) { return i == j ? 1.0 : 2.0; });
  CHECK(lr_steps<double>(indefinite, {.cholesky = true, .steps = 9}).progress.broken == 2);
  HostMatrix<double> nan = ones.clone();
  nan(2, 1) = nan(1, 2) = std::nan("");
  CHECK(!qr_steps<double>(nan, {.steps = 3}).progress.converged);
}

TEST_CASE("Threads that synchronize compute the same as one core") {
  std::vector<std::pair<StepFactor, bool>> kinds{{StepFactor::givens, true}};
  for (const StepFactor factor : factors) kinds.emplace_back(factor, false);
  for (const index_t count : {2, 5})
    for (const index_t n : {1, 2, 7, 20})
      for (const auto& [factor, shifted] : kinds) {
        CAPTURE(count, n, static_cast<int>(factor), shifted);
        const HostMatrix<double> a = matrix<double>("geometric:10", n);
        const QrSteps<double>::Args args{.factor = factor,
                                         .wilkinson = shifted,
                                         .deflate = shifted,
                                         .positive = !shifted,
                                         .steps = 3,
                                         .negligible = 2e-14};
        const Run<double> alone = qr_steps<double>(a, args);
        HostMatrix<double> d = a.clone(),
                           p = filled<double>({n, n}, [](index_t i, index_t j) { return i == j ? 1.0 : 0.0; });
        std::vector<double> work(static_cast<std::size_t>(iteration_work_size(n, n - 1, n) + 3 * n));
        iterations::Shared shared;
        shared.progress.active = n;
        double* const free = work.data() + 2 * n * n;
        const iterations::Arrays<double> x{
            d.data(), n,        p.data(),     n,     n,      reinterpret_cast<Rotation<double>*>(work.data()),
            free,     free + n, free + 3 * n, n | 1, &shared};
        by_threads<double>(count, [&](const Threads<double>& team) { iterations::qr_loop(team, args, n - 1, x); });
        const auto off = shifted ? distance_up_to_signs<double> : distance<double>;
        CHECK(off(d, alone.d) <= 1e-13);
        CHECK(off(p, alone.p) <= 1e-13);
        CHECK(shared.progress.active == alone.progress.active);
        CHECK(shared.progress.rotations == alone.progress.rotations);
      }
  for (const bool cholesky : {false, true}) {
    const index_t n = 15;
    const HostMatrix<double> a = matrix<double>("geometric:10", n);
    const LrSteps<double>::Args args{.cholesky = cholesky, .steps = 4};
    HostMatrix<double> d = a.clone();
    std::vector<double> work(static_cast<std::size_t>(n * n * 4));
    iterations::Shared shared;
    shared.progress.active = n;
    iterations::Arrays<double> x{};
    x.d = d.data(), x.stride = n, x.largest = work.data(), x.q = work.data() + n, x.ld = n | 1, x.shared = &shared;
    by_threads<double>(3, [&](const Threads<double>& team) { iterations::lr_loop(team, args, n, x); });
    CHECK(distance(d, lr_steps<double>(a, args).d) <= 1e-14);
  }
}

namespace {

template <class T>
void compare_with_gpu(const std::vector<index_t>& orders, index_t steps) {
  test::require_gpu();
  test::shared_runtime.reset();
  Runtime gpu({.cpus = 0, .gpus = 1});
  const double eps = static_cast<double>(std::numeric_limits<T>::epsilon());
  for (const index_t n : orders) {
    const HostMatrix<T> a = matrix<T>("geometric:10", n);
    for (const StepFactor factor : factors) {
      CAPTURE(n, static_cast<int>(factor));
      for (const bool shifted : {false, true}) {
        const typename QrSteps<T>::Args args{.factor = factor,
                                             .wilkinson = shifted,
                                             .deflate = shifted,
                                             .positive = !shifted,
                                             .steps = steps,
                                             .negligible = 100 * eps};
        // With shifts of an almost singular matrix, factors other than rotations have few correct digits.
        if (shifted && factor != StepFactor::givens) continue;
        const Run<T> core = qr_steps<T>(a, args), device = qr_steps<T>(a, args, &gpu);
        const double bound = 300 * eps * static_cast<double>(n) * static_cast<double>(steps);
        CHECK(core.progress.steps == device.progress.steps);
        CHECK(core.progress.active == device.progress.active);
        const auto off = shifted ? distance_up_to_signs<T> : distance<T>;
        CHECK(off(core.d, device.d) <= bound);
        CHECK(off(core.p, device.p) <= bound);
      }
    }
    for (const bool cholesky : {false, true})
      CHECK(distance(lr_steps<T>(a, {.cholesky = cholesky, .steps = steps}).d,
                     lr_steps<T>(a, {.cholesky = cholesky, .steps = steps}, &gpu).d) <=
            300 * eps * static_cast<double>(n) * static_cast<double>(steps));
  }
}

}  // namespace

TEMPLATE_TEST_CASE("Iteration steps on a GPU agree with a core", "[gpu]", float, double) {
  compare_with_gpu<TestType>({1, 2, 3, 8, 16, 17, 32, 33, 64, 65, 100, 128}, 3);
}

TEMPLATE_TEST_CASE("Iteration steps work under a sanitizer", "[gpu][sanitize]", float, double) {
  compare_with_gpu<TestType>({1, 3, 12, 35}, 2);
}
