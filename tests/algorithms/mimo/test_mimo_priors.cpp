#include "tests/support/files.hpp"
#include "tests/support/mimo.hpp"
#include <tesela/tiles/generator.hpp>

using namespace tesela::test;

namespace {

struct SoftForm {
  SoftKind kind;
  index_t keep;
};

index_t bits_of(const std::vector<Constellation>& alphabets) {
  index_t bits = 0;
  for (const Constellation& c : alphabets) bits += c.bits();
  return bits;
}

/// Returns normal numbers with this standard deviation.
template <class T>
HostMatrix<T> random_priors(const Problem<T>& p, double deviation) {
  const Generator<double> normal{.pattern = Pattern::normal, .seed = 77};
  HostMatrix<T> priors(bits_of(p.alphabets), p.shape.signals);
  for (index_t k = 0; k < priors.cols(); ++k)
    for (index_t b = 0; b < priors.rows(); ++b) priors(b, k) = static_cast<T>(deviation * normal.normal(b, k));
  return priors;
}

/// Returns likelihoods by definition: the maximum or the log-sum of exp(-||y - H s||^2 / N0) times P of each bit.
template <class T>
SoftDetection<T> by_definition(const Problem<T>& p, const HostMatrix<T>& priors, bool sums) {
  const index_t bits = bits_of(p.alphabets);
  SoftDetection<T> made{HostMatrix<T>(bits, p.shape.signals), {}};
  const auto all = static_cast<index_t>(candidates(p.alphabets));
  for (index_t k = 0; k < p.shape.signals; ++k) {
    std::vector<double> metrics[2];  // metrics by bit value, then their sums
    const std::vector<double> none(std::size_t(bits), -HUGE_VAL);
    metrics[0] = metrics[1] = none;
    for (index_t candidate = 0; candidate < all; ++candidate) {
      std::vector<std::complex<double>> s;
      std::vector<int> values;
      index_t left = candidate;
      for (const Constellation& c : p.alphabets) {
        const auto label = static_cast<int>(left % c.size());
        left /= c.size();
        s.push_back(c.points[std::size_t(label)]);
        for (int bit = c.bits(); bit-- > 0;) values.push_back(label >> bit & 1);
      }
      double log = 0;
      for (index_t i = 0; i < p.shape.antennas; ++i) {
        std::complex<double> r(p.y(i, k));
        for (index_t j = 0; j < p.shape.streams; ++j)
          r -= std::complex<double>(p.h(i, p.shape.channel_of(k) * p.shape.streams + j)) * s[std::size_t(j)];
        log -= std::norm(r) / p.n0;
      }
      for (index_t b = 0; b < bits; ++b) {
        const double l = double(priors(b, k));
        log -= std::log1p(std::exp(values[std::size_t(b)] == 0 ? -l : l));  // P(0) = 1 / (1 + exp(-L))
      }
      for (index_t b = 0; b < bits; ++b) {
        double& m = metrics[values[std::size_t(b)]][std::size_t(b)];
        const double larger = std::fmax(m, log), smaller = std::fmin(m, log);
        m = sums ? larger + std::log1p(std::exp(smaller - larger)) : larger;
      }
    }
    for (index_t b = 0; b < bits; ++b)
      made.llrs(b, k) = static_cast<T>(metrics[0][std::size_t(b)] - metrics[1][std::size_t(b)]);
  }
  return made;
}

}  // namespace

TEMPLATE_TEST_CASE("likelihoods with priors agree with their definition for all kinds", "", float, double) {
  const double limit = sizeof(TestType) == 4 ? 2e-3 : 1e-9;
  for (const char* const channel : {"rayleigh", "rank:1", "zero"})
    for (const char* const names : {"qpsk", "16qam", "qpsk,8psk"})
      for (const double deviation : {0.5, 6.0}) {
        const auto p = problem<TestType>({2, 2, 12, 3}, names, channel, 6);
        const auto priors = random_priors(p, deviation);
        const auto exact = by_definition(p, priors, false), sum = by_definition(p, priors, true);
        const auto all = static_cast<index_t>(candidates(p.alphabets));
        CAPTURE(channel, names, deviation);
        for (const SoftForm& one : {SoftForm{SoftKind::sts, 0},
                                    {SoftKind::max_log, 0},
                                    {SoftKind::list, all},
                                    {SoftKind::kbest, all},
                                    {SoftKind::nway, 0}}) {
          CAPTURE(int(one.kind));
          CHECK(apart(soft(p, {.kind = one.kind, .keep = one.keep}, priors), exact) < limit);
          CHECK(apart(soft(p, {.kind = one.kind, .form = SearchForm::complex, .keep = one.keep}, priors), exact) <
                limit);
        }
        CHECK(apart(soft(p, {.kind = SoftKind::app}, priors), sum) < limit);
      }
}

TEST_CASE("priors of one QPSK stream are added, zero priors change nothing, and scales do not matter") {
  const RuntimeOfCores cores;  // cores have all detectors, with and without priors
  auto p = problem<double>({1, 2, 60, 1}, "qpsk", "rayleigh", 3);
  const auto priors = random_priors(p, 3);
  for (const auto& kind : soft_kinds()) {
    if (kind.value == SoftKind::mmse) continue;
    const auto alone = soft(p, {.kind = kind.value, .keep = 4}),
               with = soft(p, {.kind = kind.value, .keep = 4}, priors);
    CAPTURE(kind.name);
    for (index_t e = 0; e < priors.size(); ++e)  // each bit has its own axis
      CHECK(std::abs(with.llrs.data()[e] - alone.llrs.data()[e] - priors.data()[e]) < 1e-9);
    CHECK(apart(soft(p, {.kind = kind.value, .keep = 4}, HostMatrix<double>::zeros(2, 60)), alone) == 0);
  }
  auto q = problem<double>({3, 3, 30, 1}, "16qam", "rayleigh", 6);
  const auto known = random_priors(q, 2);
  const auto sts = soft(q, {}, known), nway = soft(q, {.kind = SoftKind::nway}, known);
  for (index_t e = 0; e < q.h.size(); ++e) q.h.data()[e] *= 1e-140;
  for (index_t e = 0; e < q.y.size(); ++e) q.y.data()[e] *= 1e-140;
  q.n0 *= 1e-280;
  CHECK(apart(soft(q, {}, known), sts) < 1e-9);
  CHECK(apart(soft(q, {.kind = SoftKind::nway}, known), nway) < 1e-9);
}

TEMPLATE_TEST_CASE("likelihoods equal the priors if noise dominates or H and y are tiny", "", float, double) {
  using T = TestType;
  for (const auto& kind : soft_kinds())
    for (const auto& [size, n0] : {std::pair{1.0, 1e36},
                                   {1.0, 1e40},
                                   {1.0, 1e42},
                                   {1.0, 1e60},
                                   {1.0, 1e300},
                                   {1e-18, 1.0},
                                   {1e-20, 1.0},
                                   {1e-21, 1.0},
                                   {1e-30, 1e300},
                                   {1e-60, 1e200},
                                   {1e-160, 1.0}}) {
      if (kind.value == SoftKind::mmse || static_cast<T>(size) == 0) continue;
      auto p = problem<T>({2, 3, 8, 1}, "16qam", "rayleigh", 6);
      for (auto* const a : {&p.h, &p.y})
        for (index_t e = 0; e < a->size(); ++e) a->data()[e] *= static_cast<T>(size);
      p.n0 = n0;
      const auto priors = random_priors(p, 1);
      const auto found = soft(p, {.kind = kind.value, .keep = 256}, priors);
      CHECK(found.failed() == 0);
      for (index_t e = 0; e < priors.size(); ++e) {
        CAPTURE(kind.name, size, n0, e);
        CHECK(std::abs(double(found.llrs.data()[e]) - double(priors.data()[e])) <=
              1e-5 * std::fmax(1, std::abs(double(priors.data()[e]))));
      }
    }
}

TEMPLATE_TEST_CASE("lists of all candidates give max-log, and shorter lists limit missing values", "", float, double) {
  const double limit = sizeof(TestType) == 4 ? 2e-3 : 1e-9;
  const auto p = problem<TestType>({3, 3, 20, 1}, "qpsk,8psk,bpsk", "rayleigh", 3);
  const auto all = soft(p, {.kind = SoftKind::max_log});
  CHECK(apart(soft(p, {.kind = SoftKind::list, .keep = 64}), all) < limit);
  CHECK(apart(soft(p, {.kind = SoftKind::kbest, .keep = 64}), all) < limit);
  for (const auto& [streams, antennas] : {std::pair<index_t, index_t>{2, 1}, {2, 4}})
    for (const char* const channel : {"rayleigh", "correlated:0.9"}) {
      const auto two = problem<TestType>({streams, antennas, 40, 1}, "16qam", channel, 8);
      CHECK(apart(soft(two, {.kind = SoftKind::nway}), soft(two, {.kind = SoftKind::max_log})) < limit);
    }
  const auto four = problem<TestType>({4, 4, 50, 1}, "16qam", "rayleigh", 3);
  const auto exact = soft(four, {.clip = 20});
  double before = HUGE_VAL;
  for (const index_t keep : {4, 32, 256}) {  // a missing candidate counts as impossible, so |L| is too large
    const auto some = soft(four, {.kind = SoftKind::list, .clip = 20, .keep = keep});
    double gap = 0;
    for (index_t e = 0; e < some.llrs.size(); ++e) {
      const double l = double(some.llrs.data()[e]), right = double(exact.llrs.data()[e]);
      CHECK(std::abs(l) <= 20);
      CHECK(std::abs(l) >= std::abs(right) - limit);
      gap += std::abs(l - right);
    }
    CHECK(gap < before);
    before = gap;
  }
  CHECK(exact_max_log(four.alphabets, {.kind = SoftKind::list, .keep = 65536}));
  CHECK(!exact_max_log(four.alphabets, {.kind = SoftKind::nway}));
}

TEST_CASE("invalid priors and lists are refused by name") {
  const auto p = problem<double>({2, 2, 5, 1}, "16qam", "rayleigh", 6);
  auto priors = random_priors(p, 1);
  const auto refused = [&](const std::string& why, const SoftOptions& options) {
    check_throws<ArgumentError>(why, [&] { soft(p, options, priors); });
  };
  refused("mmse accepts none", {.kind = SoftKind::mmse});
  for (const SoftKind kind : {SoftKind::list, SoftKind::kbest}) {
    refused("need one", {.kind = kind, .keep = 1});
    refused("1 or more", {.kind = kind, .clip = 8});
  }
  priors(3, 2) = HUGE_VAL;
  refused("[3, 2] (from zero) is not finite", {});
  priors(3, 2) = -1e101;
  refused("[3, 2] (from zero) is beyond 1e100", {});
  priors = HostMatrix<double>::zeros(8, 4);
  refused("8 x 4, not 8 x 5", {});
  SoftOptions options;
  for (const char* const text : {"hard", "sts:4", "kbest:", "kbest:x", "list:-1", "nway:2", "rts", "fsd:1"})
    check_throws<ArgumentError>("is none of sts, max-log", [&] { parse_soft_kind("test", text, options); });
  parse_soft_kind("test", "list:7", options);
  CHECK((options.kind == SoftKind::list && options.keep == 7));
  parse_soft_kind("test", "kbest", options);
  CHECK((options.kind == SoftKind::kbest && options.keep == 16));
}

TEST_CASE("likelihoods as bytes are rounded to nearest, halves to even, and limited to 127") {
  HostMatrix<double> llrs(1, 9);
  const double values[] = {0, 0.25, 0.75, -0.75, 31.6, 31.75, 1000, -1000, -HUGE_VAL};
  const int wanted[] = {0, 0, 2, -2, 63, 64, 127, -127, -127};  // twice the values are 0.5, 1.5, -1.5, 63.2, 63.5, …
  std::copy(std::begin(values), std::end(values), llrs.data());
  const QuantizedLlrs made = quantize_llrs(llrs, 2);
  for (index_t k = 0; k < 9; ++k) CHECK(int(made.llrs(0, k)) == wanted[k]);
  CHECK(made.saturated == 3);
  for (const double scale : {0.0, -1.0, HUGE_VAL})
    check_throws<ArgumentError>("scale", [&] { quantize_llrs(llrs, scale); });
}
