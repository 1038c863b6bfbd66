#include "tests/support/files.hpp"
#include "tests/support/machine.hpp"
#include "tests/support/mimo.hpp"

#include <memory>

using namespace tesela::test;
using Number = std::complex<double>;

namespace {

index_t vector_errors(const Problem<double>& p, const std::string& method) {
  const Detection found = by(p, method);
  index_t wrong = 0;
  for (index_t k = 0; k < p.shape.signals; ++k)
    wrong += std::equal(&found.labels(0, k), &found.labels(0, k) + p.shape.streams, &p.sent(0, k)) ? 0 : 1;
  return wrong;
}

/// Detects by back-substitution in R of H, sliced level by level.
Detection without_noise(const Problem<double>& p) {
  Graph g(runtime());
  return mimo_detect(g, p.shape, p.h, p.y, p.alphabets, {.method = MimoMethod::mmse_sic, .order = ColumnOrder::vblast});
}

}  // namespace

TEST_CASE("points with a square that overflows are refused") {
  auto p = problem<double>({2, 2, 3, 1}, "qpsk", "rayleigh", 30);
  auto q = problem<float>({2, 2, 3, 1}, "qpsk", "rayleigh", 30);
  for (std::complex<double>& point : p.alphabets[1].points) point *= 1e155;
  for (std::complex<double>& point : q.alphabets[0].points) point *= 1e-25;
  check_throws<ArgumentError>("stream 1's largest point", [&] { detect(p, {}); });
  check_throws<ArgumentError>("stream 0's largest point", [&] { detect(q, {}); });
}

TEMPLATE_TEST_CASE("kbest with all candidates and nway with two streams equal brute force", "", float, double) {
  for (const char* const channel : {"rayleigh", "rank:1", "zero"}) {
    const auto p = problem<TestType>({3, 3, 30, 1}, "qpsk,8psk,bpsk", channel, 3);
    const Detection all = detect(p, {.method = MimoMethod::brute});
    CAPTURE(channel);
    CHECK(differences(all, detect(p, {.method = MimoMethod::kbest, .keep = 64})) == 0);
    const auto two = problem<TestType>({2, 3, 100, 1}, "16qam", channel, 3);
    if (channel == std::string("rayleigh"))
      CHECK(differences(detect(two, {.method = MimoMethod::brute}), detect(two, {.method = MimoMethod::nway})) == 0);
  }
}

TEMPLATE_TEST_CASE("bfs-gemm equals kbest for one or several blocks of levels, channels and signals", "", float,
                   double) {
  for (const auto& [streams, antennas] : {std::pair<index_t, index_t>{1, 1}, {4, 4}, {5, 5}, {9, 12}})
    for (const index_t coherence : {0, 1, 7})
      for (const index_t keep : {1, 6, 40}) {
        const auto p = problem<TestType>({streams, antennas, 30, coherence}, "16qam", "rayleigh", 9);
        const Detection breadth = detect(p, {.method = MimoMethod::bfs_gemm, .keep = keep}),
                        kbest = detect(p, {.method = MimoMethod::kbest, .keep = keep});
        CAPTURE(streams, antennas, coherence, keep);
        index_t apart = 0;
        for (std::size_t k = 0; k < 30; ++k) {
          apart += std::abs(breadth.reports[k].distance - kbest.reports[k].distance) > 1e-12 ? 1 : 0;
          if (keep > 1) CHECK(breadth.reports[k].nodes == kbest.reports[k].nodes);
        }
        CHECK(apart <= (sizeof(TestType) == 4 ? 1 : 0));  // rounding drops a different path
      }
  const auto p = problem<TestType>({3, 3, 30, 4}, "qpsk,8psk,bpsk", "rank:1", 3);
  CHECK(differences(detect(p, {.method = MimoMethod::brute}),
                    detect(p, {.method = MimoMethod::bfs_gemm, .keep = 64})) == 0);
  const auto many = problem<TestType>({2, 2, 5000, 0}, "qpsk", "rayleigh", 3);  // more columns than one product has
  CHECK(differences(detect(many, {.method = MimoMethod::brute}),
                    detect(many, {.method = MimoMethod::bfs_gemm, .keep = 16, .batch = 5000})) == 0);
}

TEST_CASE("better detectors make fewer errors, and one path gives mmse-sic without noise or babai") {
  for (const auto& [streams, antennas] : {std::pair<index_t, index_t>{2, 2}, {4, 4}, {4, 8}}) {
    const auto p = problem<double>({streams, antennas, 3000, 1}, "16qam", "rayleigh", antennas > streams ? 2 : 11);
    const index_t sd = vector_errors(p, "sd"), kbest = vector_errors(p, "kbest:16"), sic = vector_errors(p, "mmse-sic"),
                  zf = vector_errors(p, "zf"), nway = vector_errors(p, "nway");
    CAPTURE(streams, antennas, sd, kbest, nway, sic, zf);
    // With fewer enumerated streams the candidates are a subset.
    const Detection all = by(p, "nway"), most = by(p, "nway:" + std::to_string(streams - 1)), one = by(p, "nway:1");
    for (std::size_t k = 0; k < all.reports.size(); ++k) {
      CHECK(all.reports[k].distance <= most.reports[k].distance);
      CHECK(most.reports[k].distance <= one.reports[k].distance);
    }
    CHECK(vector_errors(p, "nway:1") < sic);
    CHECK(differences(all, by(p, "nway:9")) == 0);
    CHECK((sd <= kbest && kbest <= sic && sic <= zf));
    CHECK((sd <= nway && nway <= zf));
    CHECK(zf < vector_errors(p, "mf"));
    CHECK(differences(by(p, "kbest:1", ColumnOrder::vblast), without_noise(p)) == 0);
  }
  const auto p = problem<double>({3, 4, 300, 1}, "qpsk", "rayleigh", 5);
  MimoOptions complex{.method = MimoMethod::babai, .order = ColumnOrder::vblast, .form = SearchForm::complex};
  CHECK(differences(detect(p, complex), without_noise(p)) == 0);
}

TEST_CASE("detectors that need full rank give no result for dependent columns and refuse wide channels") {
  const auto p = problem<double>({3, 3, 20, 1}, "qpsk", "rank:1", 10);
  for (const Detection& found : {by(p, "zf"), without_noise(p)}) {
    CHECK(found.failed() == 20);
    CHECK(found.labels(2, 19) == -1);
  }
  for (const char* const method : {"mmse", "mmse-sic", "sd", "kbest:8", "nway", "mf", "babai"}) {
    const Detection found = by(p, method);
    CHECK(found.failed() == 0);
    for (index_t k = 0; k < 20; ++k) CHECK((found.labels(0, k) >= 0 && found.labels(0, k) < 4));
  }
  const auto wide = problem<double>({3, 2, 20, 1}, "qpsk", "rayleigh", 10);
  check_throws<ArgumentError>("needs as many antennas", [&] { by(wide, "zf"); });
  for (const char* const method : {"mmse", "mmse-sic", "kbest:8", "nway"}) CHECK(by(wide, method).failed() == 0);
  for (const char* const text : {"kbest:0", "bfs-gemm:0", "nway:0"})
    check_throws<ArgumentError>("keep", [&] { by(p, text); });
  for (const char* const text : {"kbest:", "kbest:x", "zf:2", "best", "kbest:-1", "lr", "fsd:1", "zf-sic"})
    check_throws<ArgumentError>("is none of sd, sd-plain", [&] { by(p, text); });
  MimoOptions options{.method = MimoMethod::kbest, .order = ColumnOrder::gradient, .keep = 4};
  check_throws<ArgumentError>("accept natural", [&] { detect(p, options); });
}

TEST_CASE("ep does not depend on the scale") {
  const auto p = problem<double>({3, 3, 100, 4}, "64qam", "rayleigh", 15);
  for (const double scale : {1e150, 1e-150}) {
    auto q = problem<double>({3, 3, 100, 4}, "64qam", "rayleigh", 15);
    for (index_t e = 0; e < q.h.size(); ++e) q.h.data()[e] *= scale;
    for (index_t e = 0; e < q.y.size(); ++e) q.y.data()[e] *= scale;
    q.n0 = p.n0 * scale * scale;
    CHECK(differences(by(p, "ep"), by(q, "ep")) == 0);
  }
}

TEST_CASE("ep lies between mmse and sd for many streams and gives a result for any H") {
  const auto p = problem<double>({12, 12, 400, 1}, "qpsk", "rayleigh", 8);
  const index_t ep = vector_errors(p, "ep"), mmse = vector_errors(p, "mmse"), sd = vector_errors(p, "sd");
  CAPTURE(ep, mmse, sd);
  CHECK(ep * 2 < mmse);
  CHECK(sd <= ep);
  for (const char* const channel : {"rank:1", "zero", "kappa:1e6"})
    for (const double n0 : {0.0, 0.1}) {
      auto odd = problem<double>({3, 2, 20, 1}, "8psk,16qam,bpsk", channel, 10);
      odd.n0 = n0;
      const Detection found = by(odd, "ep"), best = by(odd, "sd");
      for (std::size_t k = 0; k < 20; ++k) CHECK(found.reports[k].distance >= best.reports[k].distance * (1 - 1e-9));
      CHECK(found.failed() == 0);
    }
}

TEMPLATE_TEST_CASE("hard detectors on a GPU agree with cores", "[gpu][sanitize]", float, double) {
  require_gpu();
  struct Case {
    Problem<TestType> p;
    MimoOptions options;
    Detection alone;
  };
  std::vector<Case> all;
  shared_runtime.reset();
  {
    const auto cores = std::make_unique<Runtime>(RuntimeOptions{.cpus = 1, .gpus = 0});
    const auto add = [&](Problem<TestType> p, const std::string& method, ColumnOrder order = ColumnOrder::mmse_vblast) {
      MimoOptions options{.order = order, .n0 = p.n0};
      parse_mimo_method("test", method, options);
      Graph g(*cores);
      Detection alone = mimo_detect(g, p.shape, p.h, p.y, p.alphabets, options);
      all.push_back({std::move(p), options, std::move(alone)});
    };
    for (const char* const method :
         {"nway", "nway:1", "nway:3", "mf", "zf", "mmse", "kbest:8", "kbest:16", "kbest:31"}) {
      for (const MimoShape& shape : {MimoShape{1, 1, 5, 1},
                                     {2, 3, 100, 7},
                                     {2, 2, 33, 0},
                                     {4, 4, 70, 1},
                                     {5, 6, 20, 1},
                                     {8, 8, 9, 1},
                                     {16, 16, 2, 1}})
        add(problem<TestType>(shape, "16qam", "rayleigh", 9), method);
      add(problem<TestType>({3, 3, 50, 1}, "64qam,qpsk,16qam", "rayleigh", 14), method);
      add(problem<TestType>({3, 3, 50, 1}, "8psk,bpsk,16qam", "rayleigh", 9), method);  // nway and kbest: on cores
    }
    for (const char* const method : {"mf", "zf", "mmse"}) {
      add(problem<TestType>({4, 40, 30, 1}, "1024qam", "rayleigh", 20), method);
      for (const char* const channel : {"rank:1", "zero"})
        add(problem<TestType>({3, 3, 30, 1}, "16qam", channel, 9), method);
      auto loud = problem<TestType>({3, 3, 30, 1}, "16qam", "rayleigh", 9);
      loud.n0 = 1e60;
      add(std::move(loud), method);
    }
    for (const ColumnOrder order :
         {ColumnOrder::natural, ColumnOrder::norm, ColumnOrder::sqrd, ColumnOrder::vblast, ColumnOrder::mmse_sqrd})
      add(problem<TestType>({4, 5, 40, 1}, "64qam,qpsk,256qam,16qam", "rayleigh", 16), "kbest:12", order);
    for (const char* const method : {"kbest:33", "bfs-gemm:8", "mmse-sic", "ep"})  // runs on cores
      add(problem<TestType>({2, 2, 20, 1}, "16qam", "rayleigh", 9), method);
    add(problem<TestType>({3, 2, 30, 1}, "16qam", "rayleigh", 9), "kbest:16");
    add(problem<TestType>({3, 3, 30, 1}, "16qam", "zero", 9), "kbest:16");
  }
  Runtime gpu({.cpus = 1, .gpus = 1});
  for (auto& [p, options, alone] : all) {
    CAPTURE(int(options.method), int(options.order), options.keep, p.shape.streams, p.shape.antennas,
            p.alphabets[0].name);
    Graph g(gpu);
    const Detection found = mimo_detect(g, p.shape, p.h, p.y, p.alphabets, options);
    // In single precision kbest may drop the other of two paths whose distances differ by rounding.
    const index_t apart = differences(found, alone);
    CHECK(apart <= (sizeof(TestType) == 4 && options.method == MimoMethod::kbest ? 1 : 0));
    for (std::size_t k = 0; k < found.reports.size() && apart == 0; ++k) {
      CHECK(found.reports[k].nodes == alone.reports[k].nodes);
      CHECK(found.reports[k].flags == alone.reports[k].flags);
      CHECK(std::abs(found.reports[k].distance - alone.reports[k].distance) <= 1e-12 * alone.reports[k].distance);
    }
  }
}

TEMPLATE_TEST_CASE("hard detectors on a GPU name an element that is not finite, and the graph remains usable",
                   "[gpu][sanitize]", float, double) {
  require_gpu();
  shared_runtime.reset();
  Runtime gpu({.cpus = 1, .gpus = 1});
  const auto whole = problem<TestType>({4, 4, 200, 1}, "16qam", "rayleigh", 9);
  for (const char* const method : {"mf", "zf", "mmse", "kbest:8", "kbest:16", "kbest:32", "nway", "nway:1", "sd"})
    for (const double bad : {std::nan(""), HUGE_VAL}) {
      MimoOptions options{.n0 = whole.n0, .batch = 50};
      parse_mimo_method("test", method, options);
      Graph g(gpu);
      const Detection first = mimo_detect(g, whole.shape, whole.h, whole.y, whole.alphabets, options);
      auto p = problem<TestType>({4, 4, 200, 1}, "16qam", "rayleigh", 9);
      p.y(2, 130) = {0, static_cast<TestType>(bad)};
      CAPTURE(method, bad);
      check_throws<ArgumentError>("y: the value at [2, 130]",
                                  [&] { mimo_detect(g, p.shape, p.h, p.y, p.alphabets, options); });
      p.h(1, 4 * 60 + 3) = {static_cast<TestType>(bad), 0};
      check_throws<ArgumentError>("channels: the value at [1, 243]",
                                  [&] { mimo_detect(g, p.shape, p.h, p.y, p.alphabets, options); });
      Graph again(gpu);
      CHECK(differences(first, mimo_detect(again, whole.shape, whole.h, whole.y, whole.alphabets, options)) == 0);
    }
}
