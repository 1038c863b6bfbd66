#include "tests/support/files.hpp"
#include "tests/support/mimo.hpp"
#include "tools/checks/mimo/bit_information.hpp"

#include <functional>

using namespace tesela::test;
using Number = std::complex<double>;

namespace {

/// How the plain algorithm below updates its densities.
struct Plain {
  int rounds;
  std::function<double(int)> weight;
  bool moments;
  double least;  ///< smallest variance, relative to the points' variance
};

const Plain ours{10, [](int t) { return 0.05 * std::pow(16, t / 9.0); }, true, 1e-6};
const Plain ours_of_bits{10, [](int) { return 0.05; }, false, 1e-6};
/// Sionna 2.2, EPDetector with its defaults, in double; decides by the beliefs of the tenth round.
const Plain sionna{9, [](int) { return 0.1; }, false, 2e-12};

/// Expectation propagation as in Céspedes et al., with dense complex matrices and Gauss-Jordan elimination. H is m x n
/// by columns. All columns have the same points. The noise of each row has variance n0 in `parts` parts (1: complex, 2:
/// real, with half of N0). Returns ln P of each column's points relative to their largest.
std::vector<std::vector<double>> propagate(const Plain& plain, const std::vector<Number>& h,
                                           const std::vector<Number>& y, const std::vector<Number>& points, double n0,
                                           int parts) {
  const std::size_t m = y.size(), n = h.size() / m;
  const double noise = n0 / parts;
  double energy = 0;
  for (const Number p : points) energy += std::norm(p) / static_cast<double>(points.size());
  std::vector<double> lambda(n, 1 / energy), variance(n);
  std::vector<Number> gamma(n), centre(n);
  std::vector<std::vector<double>> logs(n);
  for (int round = 0; round <= plain.rounds; ++round) {
    // Eliminates [H^H H / noise + Lambda, I] to [I, inverse].
    std::vector<std::vector<Number>> a(n, std::vector<Number>(2 * n));
    for (std::size_t i = 0; i < n; ++i)
      for (std::size_t j = 0; j < n; ++j) {
        for (std::size_t k = 0; k < m; ++k) a[i][j] += std::conj(h[k + i * m]) * h[k + j * m] / noise;
        if (i == j) a[i][j] += lambda[i], a[i][n + j] = 1;
      }
    for (std::size_t k = 0; k < n; ++k) {
      const Number pivot = a[k][k];
      for (Number& x : a[k]) x /= pivot;
      for (std::size_t i = 0; i < n; ++i) {
        const Number factor = a[i][k];
        for (std::size_t j = 0; i != k && j < 2 * n; ++j) a[i][j] -= factor * a[k][j];
      }
    }
    for (std::size_t j = 0; j < n; ++j) {
      Number mean = 0;
      for (std::size_t i = 0; i < n; ++i) {
        Number matched = gamma[i];
        for (std::size_t k = 0; k < m; ++k) matched += std::conj(h[k + i * m]) * y[k] / noise;
        mean += a[j][n + i] * matched;
      }
      const double spread = a[j][n + j].real();
      variance[j] = 1 / (1 / spread - lambda[j]);
      centre[j] = variance[j] * (mean / spread - gamma[j]);
    }
    for (std::size_t j = 0; j < n; ++j) {
      std::vector<double>& log = logs[j];
      log.clear();
      for (const Number p : points) log.push_back(-std::norm(centre[j] - p) / variance[j] / (parts == 2 ? 2 : 1));
      const double largest = *std::max_element(log.begin(), log.end());
      double sum = 0, square = 0;
      Number mean = 0;
      for (double& l : log) l -= largest, sum += std::exp(l);
      for (std::size_t k = 0; k < points.size(); ++k) mean += std::exp(log[k]) / sum * points[k];
      for (std::size_t k = 0; k < points.size(); ++k) square += std::exp(log[k]) / sum * std::norm(points[k] - mean);
      square = std::fmax(square, plain.least * energy);
      double next = 1 / square - 1 / variance[j];
      Number weighted = mean / square - centre[j] / variance[j];
      if (next <= 0) {
        if (!plain.moments) continue;
        next = 1 / square, weighted = mean / square;
      }
      const double weight = plain.weight(round);
      lambda[j] += weight * (next - lambda[j]);
      gamma[j] += weight * (weighted - gamma[j]);
    }
  }
  return logs;
}

/// Returns ln P of each stream's points for signal k, by labels; all streams have the same alphabet.
template <class T>
std::vector<std::vector<double>> propagate(const Plain& plain, const Problem<T>& p, index_t k) {
  const index_t m = p.shape.antennas, n = p.shape.streams, first = p.shape.channel_of(k) * n;
  const Constellation& alphabet = p.alphabets.front();
  const auto product = alphabet.product();
  std::vector<Number> h, y, points;
  if (product.empty()) {
    for (index_t j = 0; j < n; ++j)
      for (index_t i = 0; i < m; ++i) h.emplace_back(p.h(i, first + j));
    for (index_t i = 0; i < m; ++i) y.emplace_back(p.y(i, k));
    return propagate(plain, h, y, alphabet.points, p.n0, 1);
  }
  const auto &re = product.front().re, &im = product.front().im;
  for (std::size_t a = 0; a < re.labels.size(); ++a) points.emplace_back(re.low + re.step * static_cast<double>(a));
  for (index_t j = 0; j < 2 * n; ++j)
    for (index_t i = 0; i < 2 * m; ++i) {
      const Number x(p.h(i % m, first + j % n));
      h.emplace_back(i < m ? (j < n ? x.real() : -x.imag()) : j < n ? x.imag() : x.real());
    }
  for (index_t i = 0; i < 2 * m; ++i) y.emplace_back(i < m ? p.y(i, k).real() : p.y(i - m, k).imag());
  const auto columns = propagate(plain, h, y, points, p.n0, 2);
  std::vector<std::vector<double>> logs(std::size_t(n), std::vector<double>(alphabet.points.size()));
  for (std::size_t j = 0; j < std::size_t(n); ++j)
    for (std::size_t a = 0; a < re.labels.size(); ++a)
      for (std::size_t b = 0; b < im.labels.size(); ++b)
        logs[j][std::size_t(re.labels[a] + im.labels[b])] = columns[j][a] + columns[j + std::size_t(n)][b];
  return logs;
}

template <class T>
HostMatrix<int> decisions(const Plain& plain, const Problem<T>& p) {
  HostMatrix<int> labels(p.shape.streams, p.shape.signals);
  for (index_t k = 0; k < p.shape.signals; ++k) {
    const auto logs = propagate(plain, p, k);
    for (index_t j = 0; j < p.shape.streams; ++j) {
      const auto& log = logs[std::size_t(j)];
      labels(j, k) = static_cast<int>(std::max_element(log.begin(), log.end()) - log.begin());
    }
  }
  return labels;
}

/// Returns the difference of ln sum P over the labels with bit 0 and with bit 1; `log` is by labels.
double likelihood(const std::vector<double>& log, int bit) {
  double largest[2] = {-HUGE_VAL, -HUGE_VAL}, sum[2] = {0, 0};
  for (std::size_t label = 0; label < log.size(); ++label)
    largest[label >> bit & 1] = std::fmax(largest[label >> bit & 1], log[label]);
  for (std::size_t label = 0; label < log.size(); ++label)
    sum[label >> bit & 1] += std::exp(log[label] - largest[label >> bit & 1]);
  return largest[0] - largest[1] + std::log(sum[0] / sum[1]);
}

index_t wrong(const HostMatrix<int>& labels, const HostMatrix<int>& sent) {
  index_t count = 0;
  for (index_t e = 0; e < sent.size(); ++e) count += labels.data()[e] != sent.data()[e] ? 1 : 0;
  return count;
}

}  // namespace

TEMPLATE_TEST_CASE("ep agrees with the plain algorithm in real and complex form", "", float, double) {
  struct Case {
    MimoShape shape;
    const char *name, *channel;
    double db;
  };
  for (const Case& one : {Case{{1, 2, 40, 1}, "16qam", "rayleigh", 4},
                          {{2, 2, 200, 1}, "qpsk", "rayleigh", 6},
                          {{4, 4, 100, 3}, "16qam", "rayleigh", 10},
                          {{4, 6, 60, 0}, "64qam", "rayleigh", 12},
                          {{3, 3, 60, 1}, "256qam", "correlated:0.5", 22},
                          {{6, 4, 60, 1}, "qpsk", "rayleigh", 8},
                          {{8, 8, 30, 1}, "16qam", "rayleigh", 9},
                          {{3, 3, 100, 1}, "8psk", "rayleigh", 8},
                          {{4, 3, 60, 1}, "bpsk", "rayleigh", 5},
                          {{3, 2, 40, 1}, "16qam", "rank:1", 10}}) {
    const auto p = problem<TestType>(one.shape, one.name, one.channel, one.db);
    CAPTURE(one.name, one.channel, one.shape.streams, one.shape.antennas);
    CHECK(wrong(by(p, "ep").labels, decisions(ours, p)) == 0);
    const auto bits = soft(p, {.kind = SoftKind::ep});
    CHECK(bits.failed() == 0);
    const int width = p.alphabets.front().bits();
    double apart = 0;
    for (index_t k = 0; k < p.shape.signals; ++k) {
      const auto logs = propagate(ours_of_bits, p, k);
      for (index_t j = 0; j < p.shape.streams; ++j)
        for (int bit = 0; bit < width; ++bit) {
          const double l = likelihood(logs[std::size_t(j)], bit);
          apart = std::fmax(
              apart, std::abs(double(bits.llrs(j * width + width - 1 - bit, k)) - l) / std::fmax(1, std::abs(l)));
        }
    }
    CHECK(apart < (sizeof(TestType) == 4 ? 1e-5 : 1e-6));  // the plain algorithm also loses digits
  }
}

TEST_CASE("ep in real form makes fewer symbol errors than in complex form and no more than Sionna's steps") {
  struct Case {
    index_t n;
    const char* name;
    double db, least, most;  ///< symbol error rate of a NumPy version on other channels, ± three standard deviations
  };
  for (const Case& one : {Case{2, "16qam", 12, 0.038, 0.052},
                          {4, "qpsk", 5, 0.0028, 0.0062},
                          {4, "16qam", 10, 0.013, 0.020},
                          {4, "64qam", 16, 0.017, 0.026},
                          {8, "16qam", 9, 0.0013, 0.0045}}) {
    const auto p = problem<double>({one.n, one.n, one.n < 8 ? 2000 : 600, 1}, one.name, "rayleigh", one.db, 5);
    const auto symbols = static_cast<double>(p.sent.size());
    const index_t found = wrong(by(p, "ep").labels, p.sent),
                  complex = wrong(detect(p, {.method = MimoMethod::ep, .form = SearchForm::complex}).labels, p.sent),
                  theirs = wrong(decisions(sionna, p), p.sent), least = wrong(by(p, "sd").labels, p.sent);
    CAPTURE(one.n, one.name, found, complex, theirs, least);
    CHECK(found < complex);
    CHECK(found <= theirs + 2);
    CHECK(least <= found);
    CHECK(double(found) / symbols > one.least);
    CHECK(double(found) / symbols < one.most);
  }
}

TEST_CASE("bits of ep carry more information than those of mmse and no less than with Sionna's steps") {
  for (const auto& [name, db] : {std::pair{"qpsk", 3.0}, {"16qam", 9.0}, {"64qam", 14.0}}) {
    const auto p = problem<double>({4, 4, 300, 1}, name, "rayleigh", db, 9);
    const auto information = [&](const HostMatrix<double>& llrs) {
      bench::BitInformation sum;
      sum.add(p.alphabets, p.sent, llrs);
      return sum.mean();
    };
    const auto kind = [&](SoftKind one) { return information(soft(p, {.kind = one, .clip = 8}).llrs); };
    const int width = p.alphabets.front().bits();
    HostMatrix<double> theirs(4 * width, p.shape.signals);
    for (index_t k = 0; k < p.shape.signals; ++k) {
      const auto logs = propagate(sionna, p, k);
      for (index_t j = 0; j < 4; ++j)
        for (int bit = 0; bit < width; ++bit)
          theirs(j * width + width - 1 - bit, k) = std::clamp(likelihood(logs[std::size_t(j)], bit), -8.0, 8.0);
    }
    const double ep = kind(SoftKind::ep), mmse = kind(SoftKind::mmse), exact = kind(SoftKind::sts);
    CAPTURE(name, ep, mmse, exact, information(theirs));
    CHECK(ep > mmse + 0.01);
    CHECK(ep > information(theirs) - 0.002);
    CHECK(ep < exact + 0.002);
  }
}

TEMPLATE_TEST_CASE("bits of ep are exact marginals without interference: one stream or orthogonal columns", "", float,
                   double) {
  const double limit = sizeof(TestType) == 4 ? 2e-4 : 1e-8;
  for (const char* const name : {"bpsk", "qpsk", "8psk", "16qam", "64qam"})
    for (const index_t streams : {1, 3})
      for (const double n0 : {1e-2, 0.3, 5.0, 1e4}) {
        auto p = problem<TestType>({streams, 4, 20, 1}, name, "kappa:1", 0);
        p.n0 = n0;
        const int width = p.alphabets.front().bits();
        HostMatrix<TestType> priors(streams * width, 20);
        for (index_t e = 0; e < priors.size(); ++e) priors.data()[e] = TestType(std::sin(double(e)) * 4);
        for (const bool known : {false, true}) {
          const auto found = soft(p, {.kind = SoftKind::ep}, known ? priors.clone() : HostMatrix<TestType>());
          double apart = 0;
          for (index_t k = 0; k < 20; ++k)
            for (index_t j = 0; j < streams; ++j) {
              Number matched = 0;
              double square = 0;
              for (index_t i = 0; i < 4; ++i) {
                const Number h(p.h(i, k * streams + j));
                matched += std::conj(h) * Number(p.y(i, k)), square += std::norm(h);
              }
              std::vector<double> log;
              for (std::size_t label = 0; label < p.alphabets.front().points.size(); ++label) {
                log.push_back(-square * std::norm(matched / square - p.alphabets.front().points[label]) / n0);
                for (int bit = 0; known && bit < width; ++bit)
                  if ((label >> bit & 1) != 0) log.back() -= double(priors(j * width + width - 1 - bit, k));
              }
              for (int bit = 0; bit < width; ++bit) {
                const double l = likelihood(log, bit);
                apart = std::fmax(apart, std::abs(double(found.llrs(j * width + width - 1 - bit, k)) - l) /
                                             std::fmax(1, std::abs(l)));
              }
            }
          CAPTURE(name, streams, n0, known);
          CHECK(apart < limit);
        }
      }
}

TEST_CASE("ep finds the nearest point for one stream and equals the matched filter at low SNR, for any noise") {
  for (const char* const name : {"16qam", "8psk", "256qam"})
    for (const double n0 : {0.0, 1e-300, 1e-20, 1e-3, 1.0, 10.0, 1e3, 1e8, 1e20, 1e300}) {
      auto p = problem<double>({1, 2, 200, 1}, name, "rayleigh", 0);
      p.n0 = n0;
      CAPTURE(name, n0);
      CHECK(differences(by(p, "ep"), by(p, "sd")) == 0);
      if (n0 < 1e8) continue;
      auto many = problem<double>({3, 4, 200, 1}, name, "rayleigh", 0);
      many.n0 = n0;
      CHECK(differences(by(many, "ep"), by(many, "mf")) == 0);
    }
}

TEST_CASE("ep without noise finds the sent symbols for columns of any size") {
  for (const char* const name : {"qpsk", "16qam", "8psk,64qam,bpsk"})
    for (const double ratio : {1.0, 1e-6, 1e-20})
      for (const double n0 : {0.0, 1e-100, 1e-12}) {
        auto p = problem<double>({3, 4, 50, 1}, name, "rayleigh", 300);
        for (index_t k = 0; k < 50; ++k)
          for (index_t i = 0; i < 4; ++i) p.h(i, 3 * k + 1) *= ratio;
        p.y = received(p.shape, p.h, p.alphabets, p.sent, 0, 3);
        p.n0 = n0 * ratio * ratio;
        CAPTURE(name, ratio, n0);
        const HostMatrix<int> labels = by(p, "ep").labels;
        // A column 10^20 times smaller is lost in the rounding of the others.
        for (index_t k = 0; k < 50; ++k)
          for (const index_t j : {0, 1, 2})
            if (j != 1 || ratio > 1e-10) CHECK(labels(j, k) == p.sent(j, k));
      }
}

TEMPLATE_TEST_CASE("ep: a zero column has no bits and does not affect the others", "", float, double) {
  for (const char* const name : {"qpsk", "16qam", "8psk"}) {
    auto p = problem<TestType>({3, 3, 40, 1}, name, "rayleigh", 8);
    auto two = problem<TestType>({2, 3, 40, 1}, name, "rayleigh", 8);
    two.n0 = p.n0;
    for (index_t k = 0; k < 40; ++k)
      for (index_t i = 0; i < 3; ++i) {
        p.h(i, 3 * k + 1) = 0;
        two.y(i, k) = p.y(i, k), two.h(i, 2 * k) = p.h(i, 3 * k), two.h(i, 2 * k + 1) = p.h(i, 3 * k + 2);
      }
    const auto three = soft(p, {.kind = SoftKind::ep}), others = soft(two, {.kind = SoftKind::ep});
    const index_t width = p.alphabets.front().bits();
    const Detection hard = by(p, "ep"), alone = by(two, "ep");
    for (index_t k = 0; k < 40; ++k) {
      CAPTURE(name, k);
      CHECK((hard.labels(0, k) == alone.labels(0, k) && hard.labels(2, k) == alone.labels(1, k)));
      for (index_t b = 0; b < width; ++b) {
        CHECK(three.llrs(width + b, k) == 0);
        CHECK(std::abs(three.llrs(b, k) - others.llrs(b, k)) <= 1e-5 * std::fmax(1, std::abs(others.llrs(b, k))));
        CHECK(std::abs(three.llrs(2 * width + b, k) - others.llrs(width + b, k)) <=
              1e-5 * std::fmax(1, std::abs(others.llrs(width + b, k))));
      }
    }
  }
}

TEMPLATE_TEST_CASE("ep gives a result for any H, size and noise", "", float, double) {
  for (const char* const names : {"8psk,16qam,bpsk", "64qam", "qpsk"})
    for (const char* const channel : {"rank:1", "zero", "kappa:1e6", "rayleigh"})
      for (const double n0 : {0.0, 1e-300, 1e-12, 0.1, 1e300})
        for (const double size : {1.0, 1e-30, 1e18}) {
          auto p = problem<TestType>({3, 2, 5, 1}, names, channel, 10);
          for (auto* const a : {&p.h, &p.y})
            for (index_t e = 0; e < a->size(); ++e) a->data()[e] *= TestType(size);
          p.n0 = n0;
          CAPTURE(names, channel, n0, size);
          const Detection found = by(p, "ep"), best = by(p, "sd");
          CHECK(found.failed() == 0);
          for (std::size_t k = 0; k < 5; ++k) {
            CHECK(std::isfinite(found.reports[k].distance));
            CHECK(found.reports[k].distance >= best.reports[k].distance * (1 - 1e-6));
          }
          if (n0 == 0) continue;
          const auto bits = soft(p, {.kind = SoftKind::ep});
          CHECK(bits.failed() == 0);
          for (index_t e = 0; e < bits.llrs.size(); ++e) CHECK(std::isfinite(bits.llrs.data()[e]));
        }
}

TEST_CASE("ep leaves bits of equal columns ambiguous at any noise") {
  for (const double n0 : {1e-2, 1e-8, 1e-12, 1e-30, 1e-300}) {
    auto p = problem<double>({2, 4, 40, 1}, "qpsk", "rayleigh", 0);
    for (index_t k = 0; k < 40; ++k)
      for (index_t i = 0; i < 4; ++i) p.h(i, 2 * k + 1) = p.h(i, 2 * k);
    p.y = received(p.shape, p.h, p.alphabets, p.sent, 0, 3);
    p.n0 = n0;
    const auto bits = soft(p, {.kind = SoftKind::ep});
    for (index_t k = 0; k < 40; ++k)
      for (int b = 0; b < 2; ++b) {
        const int one = p.sent(0, k) >> (1 - b) & 1, other = p.sent(1, k) >> (1 - b) & 1;
        CAPTURE(n0, k, b, bits.llrs(b, k), bits.llrs(2 + b, k));
        // If both streams sent the same bit, it is known; otherwise it is ambiguous.
        CHECK(std::abs(bits.llrs(b, k) - bits.llrs(2 + b, k)) <= 1e-3 * std::fmax(1, std::abs(bits.llrs(b, k))));
        CHECK((one == other ? (bits.llrs(b, k) < 0) == (one == 1) : std::abs(bits.llrs(b, k)) < 1e-2));
      }
  }
}

TEST_CASE("ep accepts points far from 0, of any size, or all equal") {
  const auto base = problem<double>({2, 3, 30, 1}, "16qam", "rayleigh", 12);
  for (const SearchForm form : {SearchForm::real, SearchForm::complex}) {
    const MimoOptions hard{.method = MimoMethod::ep, .form = form};
    const SoftOptions soft_options{.kind = SoftKind::ep, .form = form};
    const auto labels = detect(base, hard).labels;
    const auto bits = soft(base, soft_options).llrs;
    for (const double size : {1.0, 1e-40, 1e40})
      for (const double offset : {0.0, 1.0, 1e5}) {
        if (offset > 1 && form == SearchForm::real) continue;  // the amplitudes are no longer equally spaced
        auto p = problem<double>({2, 3, 30, 1}, "16qam", "rayleigh", 12);
        for (Constellation& c : p.alphabets)
          for (auto& point : c.points) point = (point + Number{offset, -offset / 2}) * size;
        for (index_t k = 0; k < 30; ++k)
          for (index_t i = 0; i < 3; ++i) {
            Number sum = base.y(i, k);
            for (index_t j = 0; j < 2; ++j) sum += p.h(i, 2 * k + j) * Number{offset, -offset / 2};
            p.y(i, k) = sum * size;
          }
        p.n0 = base.n0 * size * size;
        CAPTURE(int(form), size, offset);
        CHECK(wrong(detect(p, hard).labels, labels) == 0);
        const auto found = soft(p, soft_options).llrs;
        for (index_t e = 0; e < bits.size(); ++e)
          CHECK(std::abs(found.data()[e] - bits.data()[e]) <=
                1e-9 * std::fmax(1, offset) * std::fmax(1, std::abs(bits.data()[e])));
      }
  }
  auto same = problem<double>({2, 2, 5, 1}, "qpsk", "rayleigh", 12);
  for (auto& point : same.alphabets[0].points) point = {0.5, 0.5};
  CHECK(by(same, "ep").failed() == 0);
  const auto none = soft(same, {.kind = SoftKind::ep});
  for (index_t k = 0; k < 5; ++k) CHECK((none.llrs(0, k) == 0 && none.llrs(1, k) == 0));
  for (auto& point : same.alphabets[0].points) point = 0;
  check_throws<ArgumentError>("points must differ", [&] { by(same, "ep"); });
}
