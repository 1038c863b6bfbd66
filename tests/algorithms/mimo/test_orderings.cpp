#include "tests/support/files.hpp"
#include "tests/support/machine.hpp"
#include "tests/support/mimo.hpp"
#include "tools/checks/mimo/mimo_error.hpp"
#include <tesela/algorithms/mimo/orderings.hpp>
#include <tesela/tiles/generator.hpp>

#include <chrono>
#include <numeric>
#include <thread>

using namespace tesela::test;

namespace {

struct RealProblem {
  HostMatrix<double> h, x;
};

/// x = H s + v; s holds amplitudes of 16-QAM, given as labels.
RealProblem real_problem(index_t n, index_t signals, double noise = 0.1, double scale = 1) {
  const Generator<double> normal{.pattern = Pattern::normal, .seed = 7};
  const double amplitudes[] = {-3, -1, 1, 3};
  RealProblem p{HostMatrix<double>(n, n), HostMatrix<double>(n, signals)};
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < n; ++i) p.h(i, j) = scale * normal.normal(i, j);
  for (index_t k = 0; k < signals; ++k)
    for (index_t i = 0; i < n; ++i) {
      double sum = scale * noise * normal.normal(100 + i, k);
      for (index_t j = 0; j < n; ++j) sum += p.h(i, j) * amplitudes[normal.bits(k, 200 + j) >> 62] / std::sqrt(10.0);
      p.x(i, k) = sum;
    }
  return p;
}

/// Returns the best s by enumeration in double.
HostMatrix<int> by_brute_force(const RealProblem& p) {
  const Constellation::Axis axis = constellation(ConstellationKind::qam16).product().front().re;
  const index_t n = p.h.rows(), all = index_t{1} << (2 * n);
  HostMatrix<int> best(n, p.x.cols());
  for (index_t k = 0; k < p.x.cols(); ++k) {
    double least = std::numeric_limits<double>::infinity();
    for (index_t c = 0; c < all; ++c) {
      double sum = 0;
      for (index_t i = 0; i < n; ++i) {
        double left = p.x(i, k);
        for (index_t j = 0; j < n; ++j)
          left -= p.h(i, j) * (axis.low + axis.step * static_cast<double>(c >> (2 * j) & 3));
        sum += left * left;
      }
      if (!(sum < least)) continue;
      least = sum;
      for (index_t j = 0; j < n; ++j) best(j, k) = axis.labels[static_cast<std::size_t>(c >> (2 * j) & 3)];
    }
  }
  return best;
}

std::vector<OrderingOptions> every_way() {
  std::vector<OrderingOptions> all;
  for (const auto& build : ordering_builds())
    for (const auto& strategy : ordering_strategies())
      for (const index_t buffer : {index_t{0}, index_t{64}, index_t{7}}) {
        if (strategy.value != OrderingStrategy::per_signal || build.value == OrderingBuild::full)
          all.push_back({build.value, strategy.value, buffer});
      }
  return all;
}

void same_everywhere(Runtime& on, index_t n, index_t signals) {
  const RealProblem p = real_problem(n, signals);
  std::optional<HostMatrix<int>> first;
  if (n <= 4) first = by_brute_force(p);
  for (const OrderingOptions& options : every_way()) {
    CAPTURE(n, static_cast<int>(options.build), static_cast<int>(options.strategy), options.buffer);
    OrderedDetector detector(on, p.h.clone(), constellation(ConstellationKind::qam16), options);
    Graph g(on);
    detector.prepare(g);
    const Detection found = detector.detect(g, p.x);
    if (!first) first = found.labels.clone();
    CHECK(std::equal(first->data(), first->data() + first->size(), found.labels.data()));
    CHECK(ordering_error(detector, p.h, 40) <= 1e-13);
    for (const SearchReport& r : found.reports) CHECK(r.nodes >= n);
  }
}

}  // namespace

TEST_CASE("every build, strategy and buffer size of orderings gives the same symbols") {
  for (const index_t n : {1, 2, 3, 4, 5, 6, 7}) same_everywhere(runtime(), n, n < 5 ? 70 : 130);
}

TEST_CASE("all factorizations of each build are done for n = 8") {
  const RealProblem p = real_problem(8, 200);
  std::optional<HostMatrix<int>> first;
  for (const auto& build : ordering_builds()) {
    OrderedDetector detector(runtime(), p.h.clone(), constellation(ConstellationKind::qam16), {build.value});
    Graph g(runtime());
    detector.prepare(g);
    CHECK(detector.factorizations() == 40320);
    CHECK(ordering_error(detector, p.h, 4000) <= 1e-13);
    const Detection found = detector.detect(g, p.x);
    if (!first) first = found.labels.clone();
    CHECK(std::equal(first->data(), first->data() + first->size(), found.labels.data()));
  }
}

TEST_CASE("a table serves any buffer size, and a table of orders has the bytes that are computed") {
  const RealProblem p = real_problem(6, 300);
  OrderedDetector detector(runtime(), p.h.clone(), constellation(ConstellationKind::qam16), {});
  Graph g(runtime());
  const Detection all = detector.detect(g, p.x);
  for (const index_t buffer : {1, 63, 100, 299, 300, 1000, 0}) {
    detector.set_buffer(buffer);
    const Detection found = detector.detect(g, p.x);
    CHECK(std::equal(all.labels.data(), all.labels.data() + all.labels.size(), found.labels.data()));
  }
  CHECK(detector.factorizations() == 720);
  check_throws<ArgumentError>("buffer", [&] { detector.set_buffer(-1); });
  for (const index_t n : {1, 3, 4, 6, 7}) {
    const RealProblem q = real_problem(n, 1);
    OrderedDetector copy(runtime(), q.h.clone(), constellation(ConstellationKind::qam16),
                         {OrderingBuild::prefix, OrderingStrategy::copy_all, 0});
    copy.prepare(g);
    CHECK(copy.host_bytes() == ordering_bytes(n));
  }
}

TEST_CASE("orderings find the symbols of sd at any scale") {
  for (const double scale : {1.0, 1e150, 1e-150}) {
    const RealProblem p = real_problem(4, 60, 0.3, scale);
    const HostMatrix<int> best = by_brute_force(real_problem(4, 60, 0.3));
    OrderedDetector detector(runtime(), p.h.clone(), constellation(ConstellationKind::qam16), {});
    Graph g(runtime());
    const Detection found = detector.detect(g, p.x);
    CHECK(std::equal(best.data(), best.data() + best.size(), found.labels.data()));
  }
}

TEST_CASE("orderings accept dependent columns, a zero channel and zero signals") {
  RealProblem p = real_problem(4, 40);
  for (index_t i = 0; i < 4; ++i) p.h(i, 3) = p.h(i, 1) + p.h(i, 2);
  RealProblem none = real_problem(4, 5);
  std::fill_n(none.h.data(), none.h.size(), 0.0);
  for (const RealProblem* const q : {&p, &none})
    for (const OrderingOptions& options : every_way()) {
      OrderedDetector detector(runtime(), q->h.clone(), constellation(ConstellationKind::qam16), options);
      Graph g(runtime());
      const Detection found = detector.detect(g, q->x);
      const auto distance = [&](const HostMatrix<int>& labels, index_t k) {
        const Constellation::Axis axis = constellation(ConstellationKind::qam16).product().front().re;
        double sum = 0;
        for (index_t i = 0; i < 4; ++i) {
          double left = q->x(i, k);
          for (index_t j = 0; j < 4; ++j)
            for (std::size_t a = 0; a < 4; ++a)
              if (axis.labels[a] == labels(j, k)) left -= q->h(i, j) * (axis.low + axis.step * static_cast<double>(a));
          sum += left * left;
        }
        return std::sqrt(sum);
      };
      const HostMatrix<int> best = by_brute_force(*q);
      for (index_t k = 0; k < q->x.cols(); ++k)
        CHECK(distance(found.labels, k) <= distance(best, k) * (1 + 1e-12) + 1e-13);
      CHECK(ordering_error(detector, q->h, 24) <= 1e-13);
      CHECK(detector.detect(g, HostMatrix<double>(4, 0)).reports.empty());
    }
}

TEST_CASE("orderings refuse invalid arguments") {
  const auto make = [&](index_t rows, index_t cols, const OrderingOptions& options) {
    return [&, rows, cols, options] {
      OrderedDetector(runtime(), HostMatrix<double>::zeros(rows, cols), constellation(ConstellationKind::qam16),
                      options);
    };
  };
  check_throws<ArgumentError>("3 x 4; n x n", make(3, 4, {}));
  check_throws<ArgumentError>("buffer", make(3, 3, {.buffer = -1}));
  check_throws<ArgumentError>("at most 11", make(12, 12, {.strategy = OrderingStrategy::per_signal}));
  check_throws<EnvironmentError>("551809843200", make(12, 12, {}));
  check_throws<ArgumentError>("is not square QAM", [&] {
    OrderedDetector(runtime(), HostMatrix<double>::zeros(2, 2), constellation(ConstellationKind::psk8), {});
  });
  OrderedDetector detector(runtime(), real_problem(3, 1).h, constellation(ConstellationKind::qam16), {});
  Graph g(runtime());
  RealProblem bad = real_problem(3, 4);
  bad.x(1, 2) = std::nan("");
  check_throws<ArgumentError>("[1, 2]", [&] { (void)detector.detect(g, bad.x); });
  check_throws<ArgumentError>("2 x 5; 3 x signals", [&] { (void)detector.detect(g, HostMatrix<double>(2, 5)); });
}

TEST_CASE("orderings: a graph cancelled at any time leaves the detector usable") {
  const RealProblem p = real_problem(5, 300);
  const HostMatrix<int> best = by_brute_force(p);
  int cancelled = 0;
  for (const auto& strategy : ordering_strategies())
    for (int delay = 0; delay < 12000; delay += 400) {
      CAPTURE(static_cast<int>(strategy.value), delay);
      OrderedDetector detector(runtime(), p.h.clone(), constellation(ConstellationKind::qam16),
                               {OrderingBuild::full, strategy.value, 40});
      Graph g(runtime());
      std::thread canceller([=] {
        std::this_thread::sleep_for(std::chrono::microseconds(delay));
        Runtime::cancel();
      });
      Detection found;
      const auto is_cancelled = [&](const auto& call) {
        try {
          call();
          return false;
        } catch (const Cancelled&) {
          return true;
        }
      };
      const auto detect = [&] { found = detector.detect(g, p.x); };
      cancelled += is_cancelled(detect) ? 1 : 0;
      canceller.join();
      for (int again = 0; again < 3; ++again) {  // a late cancellation ends the next call
        (void)is_cancelled([&] { g.wait(); });
        if (!is_cancelled(detect)) break;
      }
      CHECK(std::equal(best.data(), best.data() + best.size(), found.labels.data()));
    }
  CHECK(cancelled > 0);
}

TEST_CASE("orderings on a GPU give the symbols of cores", "[gpu][sanitize]") {
  require_gpu();
  shared_runtime.reset();
  Runtime gpu({.cpus = 1, .gpus = 1});
  for (const index_t n : {1, 2, 4, 5}) same_everywhere(gpu, n, 40);
}

TEST_CASE("orderings on a GPU work for n = 8", "[gpu]") {
  require_gpu();
  shared_runtime.reset();
  Runtime gpu({.cpus = 1, .gpus = 1});
  same_everywhere(gpu, 8, 300);
}

TEST_CASE("rank and unrank of permutations agree, in lexicographic order from 0") {
  for (index_t n = 0; n <= 7; ++n) {
    std::vector<int> p(static_cast<std::size_t>(n));
    std::iota(p.begin(), p.end(), 0);
    std::uint64_t rank = 0;
    do {
      CHECK(permutation_rank(p) == rank);
      CHECK(permutation_of_rank(n, rank) == p);
      ++rank;
    } while (std::next_permutation(p.begin(), p.end()));
    CHECK(rank == static_cast<std::uint64_t>(std::tgamma(double(n + 1)) + 0.5));
  }
  const std::vector<int> last{19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0};
  CHECK(permutation_rank(last) == 2432902008176639999u);
  CHECK(permutation_of_rank(20, 2432902008176639999u) == last);
}

TEST_CASE("invalid permutations are refused") {
  for (const std::vector<int>& wrong : {std::vector<int>{0, 0}, {1, 2}, {-1, 0}, std::vector<int>(21)})
    CHECK_THROWS_AS(permutation_rank(wrong), ArgumentError);
  CHECK_THROWS_AS(permutation_of_rank(3, 6), ArgumentError);
  CHECK_THROWS_AS(permutation_of_rank(21, 0), ArgumentError);
}
