#include "tests/support/shared_runtime.hpp"
#include "tests/support/vector_targets.hpp"
#include <tesela/codelets/toeplitz/cauchy.hpp>
#include <tesela/codelets/toeplitz/cauchy_product.hpp>
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/host_matrix.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <numbers>
#include <random>

using namespace tesela;
using namespace tesela::kernels;

namespace {

using Numbers = std::vector<double>;
using Matrix = HostMatrix<double>;

/// Returns a matrix of zeros.
template <class T>
HostMatrix<T> zeros(index_t m, index_t n) {
  HostMatrix<T> a(m, n);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < m; ++i) a(i, j) = 0;
  return a;
}

Numbers uniform(index_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> numbers(-1, 1);
  Numbers x(at(n));
  for (double& e : x) e = numbers(random);
  return x;
}

double angle(index_t n) { return std::numbers::pi / static_cast<double>(n + 1); }

/// Returns S T S by its definition.
Matrix in_sine_basis(const Numbers& t) {
  const auto n = static_cast<index_t>(t.size());
  Matrix s(n, n), ts = zeros<double>(n, n), c = zeros<double>(n, n);
  const double scale = std::sqrt(2 / static_cast<double>(n + 1));
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < n; ++i)
      s(i, j) = scale * std::sin(static_cast<double>((i + 1) * (j + 1) % (2 * (n + 1))) * angle(n));
  for (index_t j = 0; j < n; ++j)
    for (index_t k = 0; k < n; ++k)
      for (index_t i = 0; i < n; ++i) ts(i, j) += t[at(std::abs(i - k))] * s(k, j);
  for (index_t j = 0; j < n; ++j)
    for (index_t k = 0; k < n; ++k)
      for (index_t i = 0; i < n; ++i) c(i, j) += s(i, k) * ts(k, j);
  return c;
}

/// Returns the generators of S T S from sums of cosines and sines.
Matrix generators(const Numbers& t) {
  const auto n = static_cast<index_t>(t.size());
  Matrix c(n, 3);
  const double scale = std::sqrt(2 / static_cast<double>(n + 1));
  for (index_t row = 0; row < n; ++row) {
    const index_t part = row < cauchy_rows(n, 0) ? 0 : 1, i = 2 * (row - part * cauchy_rows(n, 0)) + 1 + part;
    const double f = static_cast<double>(i) * angle(n);
    double u = 0, d = t[0];
    for (index_t k = 1; k < n; ++k) {
      const double kf = static_cast<double>(i * k % (2 * (n + 1))) * angle(n);
      u += t[at(k)] * std::sin(kf);
      d += t[at(k)] * scale * scale * (static_cast<double>(n - k + 1) * std::cos(kf) + std::sin(kf) / std::tan(f));
    }
    c(row, 0) = -scale * u / 2, c(row, 1) = scale * std::sin(f), c(row, 2) = d;
  }
  return c;
}

/// Returns element (a, b) of one part from generators in columns 3 s ... 3 s + 2 of c.
template <class T>
double element(const HostMatrix<T>& c, index_t s, int part, index_t a, index_t b) {
  const index_t n = c.rows(), first = part * cauchy_rows(n, 0);
  const auto value = [&](index_t row, index_t column) { return static_cast<double>(c(first + row, 3 * s + column)); };
  if (a == b) return value(a, 2);
  return (value(a, 0) * value(b, 1) - value(a, 1) * value(b, 0)) /
         (std::sin(static_cast<double>(a + b + 1 + part) * angle(n)) * std::sin(static_cast<double>(a - b) * angle(n)));
}

struct Eigen {
  Numbers values;
  Matrix vectors;
};

Eigen eigen(const Matrix& c, int part) {
  const index_t rows = cauchy_rows(c.rows(), part);
  Eigen e{Numbers(at(rows)), Matrix(rows, rows)};
  for (index_t b = 0; b < rows; ++b)
    for (index_t a = 0; a < rows; ++a) e.vectors(a, b) = c(2 * a + part, 2 * b + part);
  REQUIRE(lapack::syevd(rows, e.vectors.data(), e.vectors.ld(), e.values.data()) == 0);
  return e;
}

template <class T>
struct Answer {
  HostMatrix<T> inverse;
  Matrix report;
  double reported(index_t shift, int part, CauchyReport::Row row) const { return report(row, 2 * shift + part); }
};

/// Runs both kernels in tiles with padding below.
template <class T>
Answer<T> sweep(Runtime& runtime, const HostMatrix<T>& c, const Numbers& sigma) {
  const T nan = std::numeric_limits<T>::quiet_NaN();
  const index_t n = c.rows(), ld = n + 3, shifts = static_cast<index_t>(sigma.size());
  HostMatrix<T> padded_c(ld, 3), inverse(ld, 3 * shifts);
  Matrix report = zeros<double>(CauchyReport::rows + 1, 2 * shifts), count = report.clone();
  for (index_t j = 0; j < 3 * shifts; ++j)
    for (index_t i = 0; i < ld; ++i) inverse(i, j) = nan;
  for (index_t j = 0; j < 3; ++j)
    for (index_t i = 0; i < ld; ++i) padded_c(i, j) = i < n ? c(i, j) : nan;
  {
    const auto map = [&](auto& m, index_t rows) {
      using E = std::remove_cvref_t<decltype(m(0, 0))>;
      return TileMatrix<E>::map(runtime, m.data(), rows, m.cols(), m.rows(), {std::max<index_t>(rows, 1), m.cols()});
    };
    const auto C = map(padded_c, n), I = map(inverse, n);
    const auto R = map(report, CauchyReport::rows), N = map(count, CauchyReport::rows);
    const auto Sigma = TileMatrix<double>::map(runtime, sigma.data(), shifts, 1, shifts, {shifts, 1});
    Graph g(runtime);
    g.insert<CauchyInvert<T>>({}, C(0, 0), Sigma(0, 0), I(0, 0), R(0, 0), g.scratch<T>(cauchy_table(n), 1));
    g.insert<CauchyCount<T>>({}, C(0, 0), Sigma(0, 0), N(0, 0), g.scratch<T>(cauchy_table(n), 1));
    REQUIRE(g.wait().ok());
  }
  Answer<T> answer{HostMatrix<T>(n, 3 * shifts), report.clone()};
  for (index_t j = 0; j < 3 * shifts; ++j) {
    for (index_t i = 0; i < n; ++i) answer.inverse(i, j) = inverse(i, j);
    for (index_t i = n; i < ld; ++i) CHECK(std::isnan(inverse(i, j)));
  }
  for (index_t j = 0; j < 2 * shifts; ++j)
    for (index_t i = 0; i < CauchyReport::rows; ++i) CHECK(report(i, j) == count(i, j));
  return answer;
}

template <class T>
HostMatrix<T> rounded(const Matrix& c) {
  HostMatrix<T> r(c.rows(), c.cols());
  for (index_t j = 0; j < c.cols(); ++j)
    for (index_t i = 0; i < c.rows(); ++i) r(i, j) = static_cast<T>(c(i, j));
  return r;
}

/// Returns shifts below and above all eigenvalues, and in the middle of the widest gap of each of several ranges.
Numbers shifts_between(Numbers values) {
  std::sort(values.begin(), values.end());
  Numbers sigma{values.front() - 1, values.back() + 1};
  const std::size_t ranges = 5, step = std::max<std::size_t>(values.size() / ranges, 1);
  for (std::size_t first = 0; first + 1 < values.size(); first += step) {
    std::size_t widest = first;
    for (std::size_t i = first; i < std::min(first + step, values.size() - 1); ++i)
      if (values[i + 1] - values[i] > values[widest + 1] - values[widest]) widest = i;
    sigma.push_back((values[widest] + values[widest + 1]) / 2);
  }
  return sigma;
}

/// Compares counts and inverses with LAPACK's eigenvalues and vectors.
template <class T>
void check_against_lapack(Runtime& runtime, index_t n) {
  const Numbers t = uniform(n, 5 + static_cast<unsigned>(n));
  const Matrix dense = in_sine_basis(t);
  const Eigen eigens[2] = {eigen(dense, 0), eigen(dense, 1)};
  Numbers all = eigens[0].values;
  all.insert(all.end(), eigens[1].values.begin(), eigens[1].values.end());
  const Numbers sigma = shifts_between(all);
  const Answer<T> answer = sweep(runtime, rounded<T>(generators(t)), sigma);
  for (index_t s = 0; s < static_cast<index_t>(sigma.size()); ++s)
    for (int part = 0; part < 2; ++part) {
      const auto& [values, vectors] = eigens[part];
      const double shift = sigma[at(s)];
      INFO("n " << n << " shift " << s << " part " << part);
      CHECK(answer.reported(s, part, CauchyReport::breakdown) == 0);
      CHECK(answer.reported(s, part, CauchyReport::negative) ==
            static_cast<double>(std::count_if(values.begin(), values.end(), [&](double v) { return v < shift; })));
      if (values.empty()) continue;
      double size = 0, nearest = std::numeric_limits<double>::infinity(), error = 0, first_pivot = 0;
      for (const double v : values)
        size = std::max(size, std::abs(v - shift)), nearest = std::min(nearest, std::abs(v - shift));
      for (index_t b = 0; b < cauchy_rows(n, part); ++b) {
        first_pivot = std::max(first_pivot, std::abs(dense(2 * b + part, 2 * b + part) - shift));
        for (index_t a = 0; a < cauchy_rows(n, part); ++a) {
          double expected = 0;
          for (index_t k = 0; k < cauchy_rows(n, part); ++k)
            expected += vectors(a, k) * vectors(b, k) / (values[at(k)] - shift);
          error = std::max(error, std::abs(element(answer.inverse, s, part, a, b) - expected));
        }
      }
      // LAPACK's eigenvalues and our generators are accurate to a few roundings of the largest.
      CHECK(error * nearest * nearest <= 50 * static_cast<double>(n + 8) * std::numeric_limits<T>::epsilon() * size);
      const double largest = answer.reported(s, part, CauchyReport::largest);
      const double smallest = answer.reported(s, part, CauchyReport::smallest_pivot);
      CHECK(largest >= 0.98 * first_pivot);
      CHECK(largest <= 100 * size);
      CHECK(smallest > 0);
      CHECK(smallest <= largest);
      // The last pivot is the reciprocal of a diagonal entry of the inverse.
      CHECK(smallest >= 0.01 * nearest);
      if (values.size() == 1) CHECK(std::abs(smallest - size) <= 1e-5 * size);
    }
}

/// Returns y = (C - sigma I) x for the generators in columns 3 s ... of c.
template <class T>
Numbers multiply(const HostMatrix<T>& c, index_t s, double sigma, const Numbers& x) {
  const index_t n = c.rows();
  Matrix copy(n, 3);
  for (index_t j = 0; j < 3; ++j)
    for (index_t i = 0; i < n; ++i) copy(i, j) = static_cast<double>(c(i, 3 * s + j)) - (j == 2 ? sigma : 0);
  Numbers y(x.size());
  Numbers w(at(n + 1));
  for (index_t k = 1; k <= n; ++k) w[at(k)] = 1 / std::sin(static_cast<double>(k) * angle(n));
  for (int part = 0; part < 2; ++part) {
    const index_t first = part * cauchy_rows(n, 0), rows = cauchy_rows(n, part);
    for (index_t a = 0; a < rows; ++a) {
      const double g = copy(first + a, 0), h = copy(first + a, 1);
      double sum = copy(first + a, 2) * x[at(first + a)];
      const double* const sums = &w[at(a + 1 + part)];
      for (index_t b = 0; b < a; ++b)
        sum += (g * copy(first + b, 1) - h * copy(first + b, 0)) * sums[b] * w[at(a - b)] * x[at(first + b)];
      for (index_t b = a + 1; b < rows; ++b)
        sum -= (g * copy(first + b, 1) - h * copy(first + b, 0)) * sums[b] * w[at(b - a)] * x[at(first + b)];
      y[at(first + a)] = sum;
    }
  }
  return y;
}

double norm(const Numbers& x) {
  double squares = 0;
  for (const double e : x) squares += e * e;
  return std::sqrt(squares);
}

/// Checks C (C^-1 b) = b, and the counts against a core.
template <class T>
void check_residual(Runtime& runtime, index_t n, const Numbers& sigma, bool against_core) {
  const Numbers t = uniform(n, 3), b = uniform(n, 4);
  Matrix exact(n, 3);
  if (n < 1000) {
    exact = generators(t);
  } else {
    ToeplitzToCauchy<double>::cpu({}, In<double>{t.data(), n, 1, n}, Out<double>{exact.data(), n, 3, n});
  }
  const HostMatrix<T> c = rounded<T>(exact);
  const Answer<T> answer = sweep(runtime, c, sigma);
  const auto shifts = static_cast<index_t>(sigma.size());
  const double size = 2 * std::sqrt(static_cast<double>(n));  // approximate norm of the matrix
  for (index_t s = 0; s < shifts; ++s) {
    INFO("n " << n << " shift " << s);
    for (int part = 0; part < 2; ++part) {
      const double below = answer.reported(s, part, CauchyReport::negative);
      CHECK(answer.reported(s, part, CauchyReport::breakdown) == 0);
      if (std::abs(sigma[at(s)]) > 10 * size)
        CHECK(below == (sigma[at(s)] < 0 ? 0 : static_cast<double>(cauchy_rows(n, part))));
    }
    if (s % 16 != 0) continue;  // every block uses the same kernel
    const Numbers x = multiply(answer.inverse, s, 0, b);
    Numbers r = multiply(c, 0, sigma[at(s)], x);
    for (index_t i = 0; i < n; ++i) r[at(i)] -= b[at(i)];
    // The inverse is multiplied instead of used in a solve, so the error grows with the condition.
    const double tolerance = 40000;  // a core loses 4000 to 10000 at n = 4095
    CHECK(norm(r) <=
          tolerance * std::numeric_limits<T>::epsilon() * ((size + std::abs(sigma[at(s)])) * norm(x) + norm(b)));
  }
  if (!against_core) return;
  Matrix report(CauchyReport::rows, 2 * shifts);
  HostMatrix<T> c_again = c.clone();
  CauchyCount<T>::cpu({}, In<T>{c_again.data(), n, 3, n}, In<double>{sigma.data(), shifts, 1, shifts},
                      Out<double>{report.data(), CauchyReport::rows, 2 * shifts, CauchyReport::rows}, {});
  for (index_t s = 0; s < shifts; ++s)
    for (int part = 0; part < 2; ++part) {
      INFO("n " << n << " shift " << s << " part " << part);
      CHECK(answer.reported(s, part, CauchyReport::negative) == report(CauchyReport::negative, 2 * s + part));
      // GPUs and cores select different pivots, but both near the largest.
      CHECK(answer.reported(s, part, CauchyReport::largest) >= 0.1 * report(CauchyReport::largest, 2 * s + part));
      CHECK(answer.reported(s, part, CauchyReport::largest) <= 10 * report(CauchyReport::largest, 2 * s + part));
    }
}

/// Zeros and NaN in one part are reported and do not affect the other part.
template <class T>
void check_breakdown(Runtime& runtime, index_t n) {
  INFO("n " << n);
  const T nan = std::numeric_limits<T>::quiet_NaN(), inf = std::numeric_limits<T>::infinity();
  const Answer<T> zero = sweep(runtime, rounded<T>(generators(Numbers(at(n)))), {0, 1});
  for (int part = 0; part < 2; ++part) {
    const bool empty = cauchy_rows(n, part) == 0;
    CHECK(zero.reported(0, part, CauchyReport::breakdown) == (empty ? 0 : 1));
    CHECK(zero.reported(1, part, CauchyReport::breakdown) == 0);
    CHECK(zero.reported(1, part, CauchyReport::negative) == static_cast<double>(cauchy_rows(n, part)));
  }
  if (n < 4) return;
  const Numbers t = uniform(n, 9);
  for (const T bad : {nan, inf})
    for (const index_t column : {0, 2}) {
      HostMatrix<T> c = rounded<T>(generators(t));
      c(n - 1, column) = bad;
      const Answer<T> answer = sweep(runtime, c, {0.25});
      CHECK(answer.reported(0, 0, CauchyReport::breakdown) == 0);
      CHECK(answer.reported(0, 1, CauchyReport::breakdown) > 0);
      for (index_t i = 0; i < cauchy_rows(n, 0); ++i) CHECK(std::isfinite(answer.inverse(i, 2)));
    }
  const Answer<T> shifted = sweep(runtime, rounded<T>(generators(t)), {std::numeric_limits<double>::quiet_NaN(), 0.25});
  for (int part = 0; part < 2; ++part) {
    CHECK(shifted.reported(0, part, CauchyReport::breakdown) > 0);
    CHECK(shifted.reported(1, part, CauchyReport::breakdown) == 0);
  }
}

}  // namespace

WORKERS_TEMPLATE_TEST_CASE("Cauchy-like blocks are inverted and counted", "", float, double) {
  TESELA_ON_EACH_VECTOR_TARGET(runtime);
  for (const index_t n : {1, 2, 3, 4, 5, 64, 65, 501}) check_against_lapack<TestType>(runtime, n);
  for (const index_t n : {1, 2, 5, 64, 501}) check_breakdown<TestType>(runtime, n);
  check_residual<TestType>(runtime, 2000, {0.125}, false);
  check_residual<TestType>(runtime, 4095, {18.01}, false);
}

GPU_TEMPLATE_TEST_CASE("Cauchy-like blocks of every distribution over threads are inverted on a GPU", "[cauchy]", float,
                       double) {
  const Numbers one{0.125};
  Numbers many(300), enough(70);
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = -30 + 0.2 * static_cast<double>(i) + 0.01;
  for (std::size_t i = 0; i < enough.size(); ++i) enough[i] = -30 + 0.9 * static_cast<double>(i) + 0.01;
  const bool counts = std::is_same_v<TestType, double>;  // rounding moves eigenvalues across some shifts
  for (const index_t n : {255, 257, 1023, 1025, 2048, 4095, 4097}) {
    check_residual<TestType>(runtime, n, one, counts);
    check_residual<TestType>(runtime, n, many, counts && n < 2000);
  }
  for (const index_t n : {8191, 8193, 16383, 16385}) {
    check_residual<TestType>(runtime, n, one, counts);
    check_residual<TestType>(runtime, n, enough, false);
  }
  for (const index_t n : {32768, 32769}) check_residual<TestType>(runtime, n, {-1e5, 0.125, 1e5}, false);
}

GPU_TEMPLATE_TEST_CASE("Cauchy-like blocks are inverted and counted under a sanitizer", "[cauchy][sanitize]", float,
                       double) {
  check_against_lapack<TestType>(runtime, 5);
  check_breakdown<TestType>(runtime, 5);
  check_residual<TestType>(runtime, 130, {0.125, -2}, false);
}
