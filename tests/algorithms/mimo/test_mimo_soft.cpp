#include "tests/support/files.hpp"
#include "tests/support/mimo.hpp"
#include "tests/support/shared_runtime.hpp"

using namespace tesela::test;

TEMPLATE_TEST_CASE("sts equals an enumeration of all candidates", "", float, double) {
  const double limit = sizeof(TestType) == 4 ? 2e-3 : 1e-9;
  for (const char* const channel : {"rayleigh", "rank:1", "zero", "correlated:0.9"})
    for (const char* const names : {"qpsk", "16qam", "qpsk,8psk"})
      for (const double db : {0.0, 12.0}) {
        const auto p = problem<TestType>({2, channel[1] == 'a' ? 2 : 3, 25, 3}, names, channel, db);
        const auto all = soft(p, {.kind = SoftKind::max_log});
        for (const SearchForm form : {SearchForm::automatic, SearchForm::complex})
          for (const ColumnOrder order : {ColumnOrder::natural, ColumnOrder::sqrd, ColumnOrder::mmse_vblast}) {
            CAPTURE(channel, names, db, int(order));
            CHECK(apart(soft(p, {.order = order, .form = form}), all) < limit);
          }
      }
  const auto four = problem<TestType>({4, 4, 10, 1}, "qpsk", "rayleigh", 5);
  CHECK(apart(soft(four, {.kind = SoftKind::sts}), soft(four, {.kind = SoftKind::max_log})) < limit);
  const auto wide = problem<TestType>({3, 2, 10, 1}, "qpsk", "rayleigh", 5);
  CHECK(apart(soft(wide, {.kind = SoftKind::sts}), soft(wide, {.kind = SoftKind::max_log})) < limit);
}

TEST_CASE("soft bits agree with the hard decision, and one search for all bits costs less than one a bit") {
  const auto p = problem<double>({3, 3, 200, 1}, "16qam", "rayleigh", 8);
  const Detection hard = detect(p, {});
  const auto sts = soft(p, {.kind = SoftKind::sts});
  double one = 0, many = 0;
  for (index_t k = 0; k < 200; ++k) {
    one += sts.nodes[std::size_t(k)], many += 24 * static_cast<double>(hard.reports[std::size_t(k)].nodes);
    for (index_t j = 0; j < 3; ++j)
      for (index_t b = 0; b < 4; ++b) CHECK((sts.llrs(4 * j + b, k) < 0) == ((hard.labels(j, k) >> (3 - b) & 1) == 1));
  }
  CHECK(one < many);
}

TEST_CASE("all kinds agree with the closed forms for one QPSK stream") {
  const auto p = problem<double>({1, 2, 100, 1}, "qpsk", "rayleigh", 3);
  for (const auto& kind : soft_kinds()) {
    const auto found = soft(p, {.kind = kind.value, .keep = 4});
    for (index_t k = 0; k < 100; ++k) {
      std::complex<double> matched = 0;
      for (index_t i = 0; i < 2; ++i) matched += std::conj(p.h(i, k)) * p.y(i, k);
      const double scale = 4 * std::sqrt(0.5) / p.n0;
      CAPTURE(kind.name);
      CHECK(std::abs(found.llrs(0, k) - scale * matched.real()) < 1e-9 * (1 + std::abs(found.llrs(0, k))));
      CHECK(std::abs(found.llrs(1, k) - scale * matched.imag()) < 1e-9 * (1 + std::abs(found.llrs(1, k))));
    }
  }
}

TEST_CASE("app equals max-log at low noise and is near it otherwise") {
  const auto p = problem<double>({2, 2, 50, 1}, "16qam", "rayleigh", 6);
  const auto app = soft(p, {.kind = SoftKind::app}), log = soft(p, {.kind = SoftKind::max_log});
  for (index_t e = 0; e < app.llrs.size(); ++e)
    CHECK(std::abs(app.llrs.data()[e] - log.llrs.data()[e]) <= std::log(128.0) + 1e-9);
  CHECK(apart(app, log) > 1e-3);
  SoftOptions small{.kind = SoftKind::app, .n0 = 1e-5}, same{.kind = SoftKind::max_log, .n0 = 1e-5};
  CHECK(apart(soft(p, small), soft(p, same)) < 1e-3);
  const auto cut = soft(p, {.clip = 1.5}), whole = soft(p, {});
  for (index_t e = 0; e < cut.llrs.size(); ++e)
    CHECK(cut.llrs.data()[e] == std::clamp(whole.llrs.data()[e], -1.5, 1.5));
}

TEMPLATE_TEST_CASE("soft bits at almost zero noise are at the limit of the type and never NaN", "", float, double) {
  for (const double n0 : {1e-307, 1e-40, 1e-20}) {
    const auto p = problem<TestType>({2, 3, 40, 1}, "qpsk", "rayleigh", 6);
    const auto exact = soft(p, {.kind = SoftKind::max_log, .n0 = n0});
    const double most = double(std::numeric_limits<TestType>::max());
    const Detection linear = detect(p, {.method = MimoMethod::zf});
    for (const auto& kind : soft_kinds()) {
      CAPTURE(n0, kind.name);
      const auto found = soft(p, {.kind = kind.value, .n0 = n0, .keep = 16});
      CHECK(found.failed() == 0);
      if (kind.value != SoftKind::mmse && kind.value != SoftKind::ep) {
        CHECK(apart(found, exact) < (sizeof(TestType) == 4 ? 1e-3 : 1e-9));
        continue;
      }
      // The estimate is then that of zf (also for ep: the signal outweighs all densities), with noise n0 ((H^H
      // H)^-1)(j, j).
      for (index_t k = 0; k < 40; ++k)
        for (index_t j = 0; j < 2; ++j) {
          const std::complex<double> a(p.h(0, 2 * k + j)), b(p.h(1, 2 * k + j)), c(p.h(2, 2 * k + j));
          const std::complex<double> u(p.h(0, 2 * k + 1 - j)), v(p.h(1, 2 * k + 1 - j)), w(p.h(2, 2 * k + 1 - j));
          const std::complex<double> y0(p.y(0, k)), y1(p.y(1, k)), y2(p.y(2, k));
          const auto dot = [](auto x0, auto x1, auto x2, auto z0, auto z1, auto z2) {
            return std::conj(x0) * z0 + std::conj(x1) * z1 + std::conj(x2) * z2;
          };
          const double other = dot(u, v, w, u, v, w).real();
          const auto shared = dot(a, b, c, u, v, w);
          const double left = dot(a, b, c, a, b, c).real() - std::norm(shared) / other;
          const auto x = dot(a, b, c, y0, y1, y2) - shared * dot(u, v, w, y0, y1, y2) / other;
          for (index_t b2 = 0; b2 < 2; ++b2) {
            const double part = b2 == 0 ? x.real() : x.imag(), l = 4 * std::sqrt(0.5) * part / n0;
            const double wanted = std::clamp(l, -most, most);
            CAPTURE(k, left);
            CHECK(std::abs(double(found.llrs(2 * j + b2, k)) - wanted) <= 1e-6 * std::abs(wanted));
            CHECK((l < 0) == ((linear.labels(j, k) >> (1 - b2) & 1) == 1));
          }
        }
    }
  }
}

TEST_CASE("soft bits without information fail: mmse with dependent columns, and distances that overflow") {
  auto p = problem<double>({2, 2, 20, 1}, "qpsk", "rank:1", 6);
  CHECK(soft(p, {.kind = SoftKind::mmse, .n0 = 1e-6}).failed() == 0);
  const auto lost = soft(p, {.kind = SoftKind::mmse, .n0 = 1e-40});
  CHECK(lost.failed() == 20);
  for (index_t e = 0; e < lost.llrs.size(); ++e) CHECK(lost.llrs.data()[e] == 0);
  p = problem<double>({2, 2, 20, 1}, "qpsk", "rayleigh", 6);
  for (index_t e = 0; e < p.h.size(); ++e) p.h.data()[e] *= 1e-200;
  for (const auto& kind : soft_kinds()) {
    CAPTURE(kind.name);
    const auto far = soft(p, {.kind = kind.value, .keep = 16});
    for (index_t k = 0; k < 20; ++k)
      for (index_t b = 0; b < 4; ++b) CHECK((far.nodes[std::size_t(k)] >= 0 || far.llrs(b, k) == 0));
    for (index_t e = 0; e < far.llrs.size(); ++e) CHECK(std::isfinite(far.llrs.data()[e]));
  }
}

TEST_CASE("soft bits do not depend on scales, accept zero signals, and refuse invalid arguments") {
  auto p = problem<double>({2, 2, 30, 1}, "16qam", "rayleigh", 6);
  const auto before = soft(p, {}), linear = soft(p, {.kind = SoftKind::mmse});
  for (index_t e = 0; e < p.h.size(); ++e) p.h.data()[e] *= 1e-140;
  for (index_t e = 0; e < p.y.size(); ++e) p.y.data()[e] *= 1e-140;
  p.n0 *= 1e-280;
  CHECK(apart(soft(p, {}), before) < 1e-9);
  CHECK(apart(soft(p, {.kind = SoftKind::mmse}), linear) < 1e-9);
  CHECK(soft(problem<double>({2, 2, 0, 1}, "qpsk", "rayleigh", 1), {}).llrs.shape() == Shape{4, 0});
  Graph g(runtime());
  const auto refused = [&](const std::string& why, const SoftOptions& options) {
    check_throws<ArgumentError>(why, [&] { mimo_soft(g, p.shape, p.h, p.y, p.alphabets, options); });
  };
  refused("above 0", {});
  refused("above 0", {.n0 = -1});
  refused("clip", {.n0 = 1, .clip = -1});
  refused("accept natural", {.order = ColumnOrder::gradient, .n0 = 1});
  const auto large = problem<double>({6, 6, 1, 1}, "16qam", "rayleigh", 6);
  check_throws<ArgumentError>("2^20", [&] { soft(large, {.kind = SoftKind::app}); });
}

TEMPLATE_TEST_CASE("mmse likelihoods of a distant signal keep their digits", "", float, double) {
  auto p = problem<TestType>({1, 1, 1, 1}, "qpsk", "zero", 0);
  p.h(0, 0) = 1, p.n0 = 1;
  for (const double far : {1.0, 1e9, 1e17}) {
    p.y(0, 0) = {TestType(far), TestType(far / -2)};
    const auto found = soft(p, {.kind = SoftKind::mmse}).llrs;
    const double wanted = std::sqrt(8.0) * far;
    CHECK(std::abs(double(found(0, 0)) / wanted - 1) <= (sizeof(TestType) == 4 ? 1e-6 : 1e-14));
    CHECK(std::abs(double(found(1, 0)) / wanted + 0.5) <= (sizeof(TestType) == 4 ? 1e-6 : 1e-14));
  }
}

TEST_CASE("mmse likelihoods of points far from 0 keep the digits of y") {
  auto p = problem<double>({1, 1, 1, 1}, "bpsk", "zero", 0);
  for (const double offset : {0.0, 1e5, 1e8}) {
    p.alphabets[0].points = {offset + 1, offset - 1};
    p.h(0, 0) = 1, p.n0 = 0.5, p.y(0, 0) = {offset + 0.25, 0.1};
    const double l = soft(p, {.kind = SoftKind::mmse}).llrs(0, 0);
    CAPTURE(offset, l);
    CHECK(std::abs(l - 2) <= 1e-14 * std::max(1.0, offset) * 8);
  }
}

TEST_CASE("nway of two streams is exact for zero, equal and nearly equal columns") {
  for (const double apart_by : {-1.0, 0.0, 1e-16, 1e-13, 1e-10, 1e-5})
    for (const char* const name : {"qpsk", "8psk", "16qam"}) {
      auto p = problem<double>({2, 4, 40, 1}, name, "rayleigh", 0);
      for (index_t k = 0; k < 40; ++k)
        for (index_t i = 0; i < 4; ++i) {
          std::complex<double>&h = p.h(i, 2 * k), &other = p.h(i, 2 * k + 1);
          if (apart_by >= 0)
            other = h + apart_by * other;
          else
            (k % 2 == 0 ? h : other) = 0;
        }
      CAPTURE(apart_by, name);
      CHECK(apart(soft(p, {.kind = SoftKind::nway}), soft(p, {.kind = SoftKind::max_log})) <= 1e-9);
    }
}

TEST_CASE("nway with one zero column of three is exact for the other streams") {
  auto p = problem<double>({3, 4, 40, 1}, "qpsk", "rayleigh", 0);
  for (index_t k = 0; k < 40; ++k)
    for (index_t i = 0; i < 4; ++i) p.h(i, 3 * k + 1) = 0;
  auto found = soft(p, {.kind = SoftKind::nway}), exact = soft(p, {.kind = SoftKind::max_log});
  for (auto* const one : {&found, &exact})
    for (index_t k = 0; k < 40; ++k) one->llrs(2, k) = one->llrs(3, k) = 0;
  CHECK(apart(found, exact) <= 1e-9);
}

TEST_CASE("mmse bits of equal columns are correct at any noise or fail") {
  for (const double n0 : {1e-4, 1e-8, 1e-11, 1e-12, 1e-14, 1e-16, 1e-20, 1e-25, 1e-30}) {
    auto p = problem<double>({2, 4, 60, 1}, "16qam", "rayleigh", 0);
    p.n0 = n0;
    const index_t most = 60;
    for (index_t k = 0; k < most; ++k)
      for (index_t i = 0; i < 4; ++i) p.h(i, 2 * k + 1) = p.h(i, 2 * k);
    const auto found = soft(p, {.kind = SoftKind::mmse});
    index_t answers = 0;
    for (index_t k = 0; k < most; ++k) {
      if (found.nodes[std::size_t(k)] == kernels::SoftDetector<double>::no_answer) continue;
      ++answers;
      // For both streams: h^H y / ||h||^2 = s + noise of variance 1 + N0 / ||h||^2.
      std::complex<double> sum = 0;
      double square = 0;
      for (index_t i = 0; i < 4; ++i) sum += std::conj(p.h(i, 2 * k)) * p.y(i, k), square += std::norm(p.h(i, 2 * k));
      for (index_t bit = 0; bit < 4; ++bit) {
        double least[2] = {1e300, 1e300};
        for (std::size_t label = 0; label < 16; ++label) {
          double& d = least[label >> (3 - bit) & 1];
          d = std::min(d, std::norm(sum / square - p.alphabets[0].points[label]));
        }
        const double l = (least[1] - least[0]) / (1 + n0 / square);
        for (const index_t stream : {0, 1})
          CHECK(std::abs(found.llrs(4 * stream + bit, k) - l) <= 0.02 * std::fmax(1, std::abs(l)));
      }
    }
    CAPTURE(n0);
    CHECK((n0 < 1e-10 || answers == most));
    CHECK((n0 > 1e-14 || answers == 0));
  }
}

TEMPLATE_TEST_CASE("mmse and nway on a GPU agree with cores", "[gpu][sanitize]", float, double) {
  require_gpu();
  struct Case {
    Problem<TestType> p;
    SoftOptions options;
    SoftDetection<TestType> alone;
  };
  std::vector<Case> all;
  shared_runtime.reset();
  {
    const auto cores = std::make_unique<Runtime>(RuntimeOptions{.cpus = 1, .gpus = 0});
    const auto add = [&](Problem<TestType> p, SoftOptions options) {
      options.n0 = p.n0;
      Graph g(*cores);
      auto alone = mimo_soft(g, p.shape, p.h, p.y, p.alphabets, options);
      all.push_back({std::move(p), options, std::move(alone)});
    };
    for (const SoftKind kind : {SoftKind::mmse, SoftKind::nway}) {
      for (const MimoShape& shape : {MimoShape{1, 1, 5, 1},
                                     {2, 3, 100, 7},
                                     {2, 2, 33, 0},
                                     {4, 4, 70, 1},
                                     {3, 2, 70, 1},
                                     {5, 6, 20, 1},
                                     {8, 8, 9, 1},
                                     {16, 16, 2, 1}})
        add(problem<TestType>(shape, "16qam", "rayleigh", 9), {.kind = kind, .clip = 20});
      add(problem<TestType>({3, 3, 50, 1}, "64qam,qpsk,16qam", "rayleigh", 14), {.kind = kind, .batch = 17});
      add(problem<TestType>({3, 3, 50, 1}, "8psk,bpsk,16qam", "rayleigh", 9), {.kind = kind});  // nway runs on cores
      add(problem<TestType>({2, 2, 50, 1}, "qpsk", "zero", 9), {.kind = kind});
    }
    add(problem<TestType>({2, 2, 20, 1}, "qpsk", "rank:1", 330), {.kind = SoftKind::mmse});
  }
  Runtime gpu({.cpus = 1, .gpus = 1});
  for (auto& [p, options, alone] : all) {
    CAPTURE(int(options.kind), p.shape.streams, p.shape.antennas, p.alphabets[0].name);
    Graph g(gpu);
    const auto found = mimo_soft(g, p.shape, p.h, p.y, p.alphabets, options);
    CHECK(found.nodes == alone.nodes);
    // If two points are equally near up to rounding, slicing could continue differently; no case here does.
    CHECK(apart(found, alone) <= (sizeof(TestType) == 4 ? 1e-5 : 1e-9) / std::fmin(1, p.n0));
  }
}

GPU_TEST_CASE("a kind of likelihood without a GPU kernel is refused by name if there is no core") {
  const auto p = problem<float>({2, 2, 20, 1}, "qpsk", "rayleigh", 9);
  Graph g(runtime);
  CHECK(mimo_soft(g, p.shape, p.h, p.y, p.alphabets, {.kind = SoftKind::mmse, .n0 = p.n0}).failed() == 0);
  check_throws<NoWorkerError>(
      "mimo_soft_detector", [&] { mimo_soft(g, p.shape, p.h, p.y, p.alphabets, {.kind = SoftKind::sts, .n0 = p.n0}); });
}

TEST_CASE("ep has a real and a complex form, the real one only for square alphabets") {
  const auto qam = problem<double>({2, 2, 30, 1}, "16qam", "rayleigh", 6),
             psk = problem<double>({2, 2, 30, 1}, "8psk", "rayleigh", 6);
  CHECK(differences(detect(qam, {.method = MimoMethod::ep, .form = SearchForm::real}), by(qam, "ep")) == 0);
  CHECK(apart(soft(qam, {.kind = SoftKind::ep, .form = SearchForm::complex}), soft(qam, {.kind = SoftKind::ep})) >
        1e-3);
  check_throws<ArgumentError>("real form", [&] { detect(psk, {.method = MimoMethod::ep, .form = SearchForm::real}); });
  check_throws<ArgumentError>("real form", [&] { soft(psk, {.kind = SoftKind::ep, .form = SearchForm::real}); });
}
