#include "tests/support/mimo.hpp"

// Checks mf, zf, mmse and their cancelling forms, which give no result if rounding would decide it.

using namespace tesela::test;
using Number = std::complex<double>;

namespace {

/// The solution x of (H^H H + alpha2 I) x = H^H y by elimination, and the diagonal of the inverse.
struct Linear {
  std::vector<Number> x;
  std::vector<double> inverse;
};
Linear normal_equations(const Problem<double>& p, index_t k, double alpha2) {
  const auto n = static_cast<std::size_t>(p.shape.streams);
  std::vector<std::vector<Number>> a(n, std::vector<Number>(2 * n + 1));
  const index_t first = p.shape.channel_of(k) * p.shape.streams;
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < n; ++j) {
      for (index_t r = 0; r < p.shape.antennas; ++r)
        a[i][j] += std::conj(p.h(r, first + index_t(i))) * p.h(r, first + index_t(j));
      if (i == j) a[i][j] += alpha2;
    }
    a[i][n + i] = 1;
    for (index_t r = 0; r < p.shape.antennas; ++r) a[i][2 * n] += std::conj(p.h(r, first + index_t(i))) * p.y(r, k);
  }
  for (std::size_t c = 0; c < n; ++c)
    for (std::size_t i = 0; i < n; ++i) {
      if (i == c) {
        const Number pivot = a[c][c];
        for (Number& x : a[c]) x /= pivot;
        for (std::size_t q = 0; q < n; ++q) {
          const Number factor = a[q][c];
          for (std::size_t j = 0; q != c && j < 2 * n + 1; ++j) a[q][j] -= factor * a[c][j];
        }
      }
    }
  Linear result;
  for (std::size_t i = 0; i < n; ++i) result.x.push_back(a[i][2 * n]), result.inverse.push_back(a[i][n + i].real());
  return result;
}

int nearest(const Constellation& c, Number x) {
  int best = 0;
  for (int k = 1; k < c.size(); ++k)
    if (std::abs(x - c.points[std::size_t(k)]) < std::abs(x - c.points[std::size_t(best)])) best = k;
  return best;
}

}  // namespace

TEST_CASE("zf and mmse slice the unbiased solutions of the normal equations") {
  for (const char* const names : {"16qam", "8psk", "qpsk,64qam,bpsk"})
    for (const index_t antennas : {3, 5}) {
      const auto p = problem<double>({3, antennas, 150, 10}, names, "rayleigh", 8);
      const Detection zf = by(p, "zf"), mmse = by(p, "mmse");
      for (index_t k = 0; k < 150; ++k) {
        const Linear one = normal_equations(p, k, 0), other = normal_equations(p, k, p.n0);
        for (std::size_t j = 0; j < 3; ++j) {
          CHECK(zf.labels(index_t(j), k) == nearest(p.alphabets[j], one.x[j]));
          CHECK(mmse.labels(index_t(j), k) == nearest(p.alphabets[j], other.x[j] / (1 - p.n0 * other.inverse[j])));
        }
      }
    }
}

TEST_CASE("mmse-sic slices the linear estimate after cancelling the streams decided earlier") {
  const auto p = problem<double>({3, 3, 200, 1}, "16qam", "rayleigh", 10);
  Problem<double> quiet = problem<double>({3, 3, 200, 1}, "16qam", "rayleigh", 10);
  quiet.n0 = 0;
  const Detection found = by(p, "mmse-sic", ColumnOrder::natural), zero = by(quiet, "mmse-sic", ColumnOrder::natural);
  for (const auto& [detection, alpha2] : {std::pair{&found, p.n0}, {&zero, 0.0}})
    for (index_t k = 0; k < 200; ++k) {
      Problem<double> left = problem<double>({3, 3, 200, 1}, "16qam", "rayleigh", 10);
      for (index_t last = 2; last >= 0; --last) {
        // Streams last + 1 … are cancelled: their columns are zero.
        const Linear x = normal_equations(left, k, alpha2 + 1e-300);
        double bias = 1 - alpha2 * x.inverse[std::size_t(last)];
        if (alpha2 == 0) {
          Problem<double> fewer{{last + 1, 3, 200, 0}, p.alphabets, HostMatrix<Number>(3, last + 1),
                                left.y.clone(),        {},          0};
          for (index_t j = 0; j <= last; ++j)
            for (index_t i = 0; i < 3; ++i) fewer.h(i, j) = p.h(i, 3 * k + j);
          CHECK(detection->labels(last, k) ==
                nearest(p.alphabets[0], normal_equations(fewer, k, 0).x[std::size_t(last)]));
        } else {
          CHECK(detection->labels(last, k) == nearest(p.alphabets[0], x.x[std::size_t(last)] / bias));
        }
        const Number sent = p.alphabets[0].points[std::size_t(detection->labels(last, k))];
        for (index_t i = 0; i < 3; ++i) left.y(i, k) -= p.h(i, 3 * k + last) * sent, left.h(i, 3 * k + last) = 0;
      }
      if (k > 60) break;
    }
}

TEMPLATE_TEST_CASE("mmse and mmse-sic with equal columns are correct at any noise or give no result", "", float,
                   double) {
  Problem<TestType> p = problem<TestType>({2, 4, 100, 1}, "16qam", "rayleigh", 0);
  std::vector<int> right;  // expected label of both streams: h^H y / ||h||^2
  for (index_t k = 0; k < 100; ++k) {
    std::complex<double> sum = 0;
    double square = 0;
    for (index_t i = 0; i < 4; ++i) {
      const std::complex<TestType> h = p.h(i, 2 * k + 1) = p.h(i, 2 * k);
      sum += std::conj(std::complex<double>(h)) * std::complex<double>(p.y(i, k)),
          square += std::norm(std::complex<double>(h));
    }
    right.push_back(nearest(p.alphabets[0], sum / square));
  }
  for (const double n0 : {1e-4, 1e-8, 1e-11, 1e-12, 1e-14, 1e-16, 1e-20, 1e-25, 1e-30})
    for (const char* const method : {"mmse", "mmse-sic"}) {
      p.n0 = n0;
      const Detection found = by(p, method, ColumnOrder::natural);
      CAPTURE(n0, method);
      index_t answers = 0;
      for (index_t k = 0; k < 100; ++k) {
        if (found.labels(1, k) < 0) continue;
        ++answers;
        CHECK(found.labels(1, k) == right[std::size_t(k)]);
        if (std::string_view(method) == "mmse") CHECK(found.labels(0, k) == right[std::size_t(k)]);
      }
      CHECK((n0 < 1e-10 || answers == 100));
      CHECK((n0 > 1e-14 || answers == 0));
    }
}

TEST_CASE("zf, mmse and their cancelling forms with nearly equal columns and N0 = 0 are correct or give no result") {
  // y has a part outside H's range. Rounding H by epsilon turns it into an error in x of size epsilon / apart_by^2.
  for (const double apart_by : {1e-2, 1e-5, 1e-8, 1e-10, 1e-12}) {
    Problem<double> p = problem<double>({2, 3, 100, 1}, "qpsk", "rayleigh", 300);
    for (index_t k = 0; k < 100; ++k) {
      const auto h = [&](index_t i, index_t j) -> Number& { return p.h(i, 2 * k + j); };
      for (index_t i = 0; i < 3; ++i) h(i, 1) = h(i, 0) + apart_by * h(i, 1);
      Number across[3];  // orthogonal to both columns
      for (index_t i = 0; i < 3; ++i) {
        const index_t a = (i + 1) % 3, b = (i + 2) % 3;
        across[i] = std::conj(h(a, 0) * (h(b, 1) - h(b, 0)) - h(b, 0) * (h(a, 1) - h(a, 0))) / apart_by;
      }
      for (index_t i = 0; i < 3; ++i)
        p.y(i, k) = h(i, 0) * p.alphabets[0].points[std::size_t(p.sent(0, k))] +
                    h(i, 1) * p.alphabets[1].points[std::size_t(p.sent(1, k))] + 10.0 * across[i];
    }
    p.n0 = 0;
    for (const char* const method : {"zf", "mmse", "mmse-sic"}) {
      const Detection found = by(p, method, ColumnOrder::natural);
      index_t answers = 0;
      for (index_t k = 0; k < 100; ++k) {
        if (found.labels(0, k) < 0) continue;
        ++answers;
        CHECK(found.labels(0, k) == p.sent(0, k));
        CHECK(found.labels(1, k) == p.sent(1, k));
      }
      CAPTURE(apart_by, method);
      CHECK((apart_by < 1e-5 || answers == 100));
    }
  }
}

TEST_CASE("columns of very different size do not count as dependent") {
  Problem<double> p = problem<double>({2, 2, 16, 1}, "16qam", "zero", 300);
  for (index_t k = 0; k < 16; ++k) {
    p.h(0, 2 * k) = 1, p.h(1, 2 * k + 1) = 1e-12;
    for (index_t j = 0; j < 2; ++j) p.y(j, k) = p.h(j, 2 * k + j) * p.alphabets[0].points[std::size_t(p.sent(j, k))];
  }
  for (const double n0 : {1e-30, 1e-20, 1e-14})
    for (const char* const method : {"mmse", "mmse-sic"}) {
      p.n0 = n0;
      const Detection found = by(p, method, ColumnOrder::natural);
      CAPTURE(n0, method);
      for (index_t k = 0; k < 16; ++k)
        CHECK((found.labels(0, k) == p.sent(0, k) && found.labels(1, k) == p.sent(1, k)));
    }
}

TEST_CASE("zf, mmse and their cancelling forms give no result for dependent columns or a stream below rounding") {
  const auto plain = [] {
    auto one = problem<double>({3, 4, 100, 1}, "qpsk", "rayleigh", 300);
    one.n0 = 0;
    return one;
  };
  auto p = plain();
  const auto send = [&] {
    for (index_t k = 0; k < 100; ++k)
      for (index_t i = 0; i < 4; ++i) {
        p.y(i, k) = 0;
        for (index_t j = 0; j < 3; ++j)
          p.y(i, k) += p.h(i, 3 * k + j) * p.alphabets[0].points[std::size_t(p.sent(j, k))];
      }
  };
  const auto check = [&] {
    for (const char* const method : {"zf", "mmse", "mmse-sic"})
      for (const ColumnOrder order : {ColumnOrder::natural, ColumnOrder::mmse_vblast}) {
        const Detection found = by(p, method, order);
        CAPTURE(method, int(order));
        for (index_t k = 0; k < 100; ++k)
          CHECK((found.labels(0, k) == -1 || std::equal(&p.sent(0, k), &p.sent(0, k) + 3, &found.labels(0, k))));
      }
  };
  for (const double tiny : {1e-14, 1e-17, 1e-25}) {
    CAPTURE(tiny);
    p = plain();
    for (index_t k = 0; k < 100; ++k)
      for (index_t i = 0; i < 4; ++i) p.h(i, 3 * k + 2) *= tiny;
    send(), check();
  }
  for (const double tiny : {1e-3, 1e-6, 1e-9}) {  // the third column is the difference of the other two
    CAPTURE(tiny);
    p = plain();
    for (index_t k = 0; k < 100; ++k)
      for (index_t i = 0; i < 4; ++i) {
        p.h(i, 3 * k + 1) = p.h(i, 3 * k) + tiny * p.h(i, 3 * k + 1);
        p.h(i, 3 * k + 2) = p.h(i, 3 * k + 1) - p.h(i, 3 * k);
      }
    send();
    for (const char* const method : {"zf", "mmse-sic"})
      for (const ColumnOrder order : {ColumnOrder::natural, ColumnOrder::mmse_vblast})
        CHECK(by(p, method, order).failed() == 100);
  }
}

TEMPLATE_TEST_CASE("a signal far outside the constellation is sliced by its direction", "", float, double) {
  for (const char* const name : {"bpsk", "qpsk", "8psk", "16qam", "256qam"})
    for (const double far : {1e8, 1e12, 1e17, 1e30}) {
      auto p = problem<TestType>({1, 2, 60, 1}, name, "rayleigh", 9);
      for (index_t e = 0; e < p.y.size(); ++e) p.y.data()[e] *= TestType(far);
      for (const char* const method : {"mf", "zf", "mmse", "mmse-sic"}) {
        const Detection found = by(p, method);
        for (index_t k = 0; k < 60; ++k) {
          std::complex<long double> x = 0;
          for (index_t i = 0; i < 2; ++i)
            x += std::conj(std::complex<long double>(p.h(i, k))) * std::complex<long double>(p.y(i, k));
          x /= std::abs(x);
          // Labels that differ only by rounding of x are accepted.
          const auto along = [&](int label) {
            return (std::conj(x) * std::complex<long double>(p.alphabets[0].points[std::size_t(label)])).real();
          };
          long double most = 0;
          for (int label = 0; label < p.alphabets[0].size(); ++label) most = std::max(most, along(label));
          CAPTURE(name, far, method, k);
          CHECK(along(found.labels(0, k)) >= most - 1e-7L);
        }
      }
    }
}

TEMPLATE_TEST_CASE("mmse and mmse-sic of one stream equal the matched filter at any noise", "", float, double) {
  Problem<TestType> p = problem<TestType>({1, 2, 300, 1}, "16qam", "rayleigh", 30);
  const Detection matched = by(p, "mf", ColumnOrder::natural);
  for (const double n0 : {1e0, 1e6, 1e8, 1e12, 1e18, 1e25})
    for (const char* const method : {"mmse", "mmse-sic"}) {
      p.n0 = n0;
      CAPTURE(n0, method);
      CHECK(differences(by(p, method, ColumnOrder::natural), matched) == 0);
    }
}
