#include "tests/support/files.hpp"
#include "tests/support/mimo.hpp"
#include <tesela/algorithms/mimo/whiten.hpp>

using namespace tesela;
using namespace tesela::test;
using Number = std::complex<double>;

TEST_CASE("the nearest point after whitening is the most likely point for covariance C") {
  // The inverse of C = [2, 1 - i; 1 + i, 3], whose determinant is 4.
  HostMatrix<Number> c(2, 2);
  c(0, 0) = 2, c(0, 1) = {1, -1}, c(1, 0) = {1, 1}, c(1, 1) = 3;
  const Number inverse[2][2] = {{0.75, {-0.25, 0.25}}, {{-0.25, -0.25}, 0.5}};
  for (const double scale : {1.0, 1e150, 1e-150}) {
    auto p = problem<double>({2, 2, 150, 1}, "qpsk", "rayleigh", 0);
    const auto before = problem<double>({2, 2, 150, 1}, "qpsk", "rayleigh", 0);
    HostMatrix<Number> scaled = c.clone();
    for (index_t e = 0; e < 4; ++e) scaled.data()[e] *= scale;
    whiten(scaled, p.h, p.y);
    const Detection found = detect(p, {}), plain = detect(before, {});
    CHECK(differences(found, plain) > 0);
    for (index_t k = 0; k < 150; ++k) {
      double least = std::numeric_limits<double>::infinity(), ours = 0;
      for (int a = 0; a < 4; ++a)
        for (int b = 0; b < 4; ++b) {
          Number left[2];
          for (index_t i = 0; i < 2; ++i)
            left[i] = before.y(i, k) - before.h(i, 2 * k) * p.alphabets[0].points[std::size_t(a)] -
                      before.h(i, 2 * k + 1) * p.alphabets[1].points[std::size_t(b)];
          double sum = 0;
          for (int i = 0; i < 2; ++i)
            for (int j = 0; j < 2; ++j) sum += (std::conj(left[i]) * inverse[i][j] * left[j]).real();
          least = std::fmin(least, sum);
          if (found.labels(0, k) == a && found.labels(1, k) == b) ours = sum;
        }
      CHECK(ours <= least * (1 + 1e-12));
    }
  }
}

TEST_CASE("whitening does not depend on the units of antennas") {
  auto p = problem<double>({2, 3, 20, 1}, "qpsk", "rayleigh", 0),
       q = problem<double>({2, 3, 20, 1}, "qpsk", "rayleigh", 0);
  HostMatrix<Number> c(3, 3), far(3, 3);
  const int exponents[] = {480, 0, -480};
  for (index_t i = 0; i < 3; ++i) {
    for (index_t j = 0; j < 3; ++j) {
      c(i, j) = i == j ? Number(2) : Number(0.5, i < j ? 0.25 : -0.25);
      far(i, j) = c(i, j) * std::ldexp(1.0, exponents[i] + exponents[j]);
    }
    for (index_t k = 0; k < q.h.cols(); ++k) q.h(i, k) *= std::ldexp(1.0, exponents[i]);
    for (index_t k = 0; k < q.y.cols(); ++k) q.y(i, k) *= std::ldexp(1.0, exponents[i]);
  }
  whiten(c, p.h, p.y);
  whiten(far, q.h, q.y);
  CHECK(std::equal(p.h.data(), p.h.data() + p.h.size(), q.h.data()));
  CHECK(std::equal(p.y.data(), p.y.data() + p.y.size(), q.y.data()));
}

TEST_CASE("whiten refuses an invalid covariance") {
  auto p = problem<float>({2, 2, 5, 1}, "qpsk", "rayleigh", 0);
  const auto refused = [&](const char* why, Number a, Number b, Number c, Number d) {
    HostMatrix<Number> m(2, 2);
    m(0, 0) = a, m(0, 1) = b, m(1, 0) = c, m(1, 1) = d;
    check_throws<ArgumentError>(why, [&] { whiten(m, p.h, p.y); });
  };
  refused("not Hermitian at [0, 1]", 1, 2, 1, 9);
  refused("not Hermitian at [0, 0]", {1, 1}, 0, 0, 1);
  refused("not positive definite: row 1", 1, 2, 2, 1);
  refused("not positive definite: row 0", 0, 0, 0, 0);
  refused("[1, 0] (from zero) is not finite", 1, 0, NAN, 1);
  check_throws<ArgumentError>("3 x 3; it must be Nr x Nr", [&] { whiten(HostMatrix<Number>::zeros(3, 3), p.h, p.y); });
}
