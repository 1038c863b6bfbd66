#include "tests/support/toeplitz.hpp"
#include <tesela/codelets/toeplitz/cauchy_product.hpp>
#include <tesela/codelets/toeplitz/lanczos/lanczos.hpp>
#include <tesela/codelets/toeplitz/lanczos/ritz.hpp>
#include <tesela/codelets/toeplitz/toeplitz_dense.hpp>
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/tiles/generator.hpp>

#include <numbers>

using namespace tesela::kernels;
using namespace tesela::test;

namespace {

using Numbers = std::vector<double>;

Numbers uniform(index_t n, std::uint64_t seed) {
  const Generator<double> random{Pattern::uniform, 0, 0, seed};
  Numbers x(at(n));
  for (index_t i = 0; i < n; ++i) x[at(i)] = random.uniform(i, 0);
  return x;
}

template <class T>
In<T> in(const std::vector<T>& x, index_t cols = 1) {
  const auto rows = static_cast<index_t>(x.size()) / cols;
  return {x.data(), rows, cols, rows};
}

template <class T>
Out<T> out(std::vector<T>& x, index_t cols = 1) {
  const auto rows = static_cast<index_t>(x.size()) / cols;
  return {x.data(), rows, cols, rows};
}

template <class T>
std::vector<T> poisoned(index_t size) {
  return std::vector<T>(at(size), std::numeric_limits<T>::quiet_NaN());
}

double angle(index_t n) { return std::numbers::pi / static_cast<double>(n + 1); }

/// Returns i j pi / (n + 1), reduced to a small angle.
double sine_angle(index_t n, index_t i, index_t j) { return static_cast<double>(i * j % (2 * (n + 1))) * angle(n); }

/// Returns the number, from 1, of row `row` of the Cauchy blocks in the sine basis.
index_t number(index_t n, index_t row) {
  const index_t first = cauchy_rows(n, 0);
  return row < first ? 2 * row + 1 : 2 * (row - first) + 2;
}

/// Returns the two blocks of the generators c (n x 3) as one dense matrix.
HostMatrix<double> blocks(index_t n, const Numbers& c) {
  HostMatrix<double> a = HostMatrix<double>::zeros(n, n);
  const index_t first = cauchy_rows(n, 0);
  for (index_t j = 0; j < n; ++j)
    for (index_t i = 0; i < n; ++i) {
      if ((i < first) != (j < first)) continue;
      const index_t p = number(n, i), q = number(n, j);  // p + q and p - q are even
      a(i, j) = i == j ? c[at(i + 2 * n)]
                       : (c[at(i)] * c[at(j + n)] - c[at(i + n)] * c[at(j)]) /
                             (std::sin(static_cast<double>((p + q) / 2) * angle(n)) *
                              std::sin(static_cast<double>((p - q) / 2) * angle(n)));
    }
  return a;
}

double frobenius(const HostMatrix<double>& a) {
  double squares = 0;
  for (index_t e = 0; e < a.size(); ++e) squares += a.data()[e] * a.data()[e];
  return std::sqrt(squares);
}

Numbers product(const HostMatrix<double>& a, const Numbers& x) {
  Numbers y(x.size());
  for (index_t j = 0; j < a.cols(); ++j)
    for (index_t i = 0; i < a.rows(); ++i) y[at(i)] += a(i, j) * x[at(j)];
  return y;
}

double norm(const Numbers& x) {
  double squares = 0;
  for (const double v : x) squares += v * v;
  return std::sqrt(squares);
}

double distance(const Numbers& a, const Numbers& b) {
  Numbers d(a);
  for (std::size_t i = 0; i < d.size(); ++i) d[i] -= b[i];
  return norm(d);
}

Numbers tables(index_t n) {
  Numbers t = poisoned<double>(cauchy_tables(n).rows * 6);
  CauchyTables<double>::cpu({n}, out(t, 6));
  return t;
}

/// Returns c of the Toeplitz matrix with first column t.
Numbers generators(const Numbers& t) {
  Numbers c = poisoned<double>(3 * static_cast<index_t>(t.size()));
  ToeplitzToCauchy<double>::cpu({}, in(t), out(c, 3));
  return c;
}

struct Tridiagonal {
  Numbers d, e;
};

/// Compares values and last components by QL steps with LAPACK.
void check_ritz_values(const Tridiagonal& t, bool components) {
  const auto n = static_cast<index_t>(t.d.size());
  Numbers d = t.d, e = t.e, last = poisoned<double>(n);
  if (n > 0) e[at(n - 1)] = std::nan("");  // not part of the matrix
  REQUIRE(lanczos::ritz_values(n, d.data(), e.data(), last.data()));
  Numbers right = t.d, rest = t.e, z(at(n * n));
  if (n > 0) rest[at(n - 1)] = 0;
  REQUIRE(lapack::stemr(n, right.data(), rest.data(), z.data(), std::max<index_t>(n, 1)) == 0);
  std::vector<std::pair<double, double>> found;
  for (index_t j = 0; j < n; ++j) found.emplace_back(d[at(j)], std::abs(last[at(j)]));
  std::sort(found.begin(), found.end());
  double size = 0, squares = 0;
  for (const double v : right) size = std::max(size, std::abs(v));
  for (index_t j = 0; j < n; ++j) {
    CAPTURE(n, j);
    REQUIRE(std::abs(found[at(j)].first - right[at(j)]) <= 1e-15 * static_cast<double>(n + 4) * size);
    squares += found[at(j)].second * found[at(j)].second;
    if (components) REQUIRE(std::abs(found[at(j)].second - std::abs(z[at(n - 1 + j * n)])) <= 1e-12);
  }
  if (n > 0) CHECK(std::abs(squares - 1) <= 1e-13);
}

/// Runs whose eigenvectors are local: components fall by 1e-7 a row, so a residual is far above its tolerance, or far
/// below.
struct LocalRuns {
  static constexpr index_t at_a_time = LanczosTest::at_a_time;
  index_t k;
  Numbers coefficients;  // 4 x k at_a_time
  explicit LocalRuns(index_t steps) : k(steps), coefficients(at(4 * steps * at_a_time)) {
    for (index_t j = 0; j < k * at_a_time; ++j)
      for (index_t part = 0; part < 2; ++part) {  // neighbours on the diagonal differ by 1 and more
        const auto place = static_cast<double>(j % k * 29 % k) + 0.1 * static_cast<double>(j / k + 2 * part);
        coefficients[at(4 * j + 2 * part)] = 6 * place / static_cast<double>(k) - 3;
        coefficients[at(4 * j + 2 * part + 1)] = 1e-7;
      }
  }
  /// A shift at the end of the interval, in it, and outside.
  static LanczosGoal goal(index_t s, index_t wanted) {
    const double width = 0.4 + static_cast<double>(s), low = s % 3 == 0 ? 0 : s % 3 == 1 ? -width : 0.2;
    return {5 + low, 5 + low + 2 * width, 5, 1e-9, 1e-18, {wanted, wanted + 1}};
  }

  /// A converged eigenvalue of the inverse and its vector.
  struct Pair {
    double value;
    Numbers vector;
  };
  /// Returns the converged pairs in the interval that are nearest to its middle, by LAPACK.
  std::vector<Pair> pairs(index_t s, index_t part, index_t steps, const LanczosGoal& goal) const {
    Numbers d, e, w(at(steps * steps));
    for (index_t j = 0; j < steps; ++j) {
      d.push_back(coefficients[at(4 * (s * k + j) + 2 * part)]);
      e.push_back(coefficients[at(4 * (s * k + j) + 2 * part + 1)]);
      if (e.back() == 0) break;
    }
    const auto m = static_cast<index_t>(d.size());
    const double rest = e.back();
    REQUIRE(lapack::stemr(m, d.data(), e.data(), w.data(), m) == 0);
    std::vector<Pair> found;
    for (index_t j = 0; j < m; ++j) {
      const double value = goal.shift + 1 / d[at(j)],
                   ratio = rest * std::abs(w[at(m - 1 + j * m)]) / (goal.tolerance * std::abs(d[at(j)]));
      if (value >= goal.low && value <= goal.high) REQUIRE((ratio < 0.1 || ratio > 200));
      if (value < goal.low || value > goal.high || ratio > 1) continue;
      found.push_back({value, Numbers(w.begin() + j * m, w.begin() + (j + 1) * m)});
    }
    const double middle = (goal.low + goal.high) / 2;
    const auto nearer = [&](const Pair& a, const Pair& b) {
      return std::abs(a.value - middle) < std::abs(b.value - middle);
    };
    std::sort(found.begin(), found.end(), nearer);
    const index_t wanted = goal.wanted[at(part)];
    if (static_cast<index_t>(found.size()) > wanted) found.resize(at(wanted));
    std::sort(found.begin(), found.end(), [](const Pair& a, const Pair& b) { return a.value < b.value; });
    return found;
  }
};

/// Tests runs of k steps in two rounds, and compares verdicts and vectors with LAPACK's.
void check_runs(const LocalRuns& runs, index_t wanted) {
  const index_t k = runs.k, half = k / 2, most = wanted + 1;
  const Shape shape = lanczos_histories(k);
  Numbers histories(at(shape.rows * shape.cols), 7);
  const InOut<double> all{histories.data(), shape.rows, shape.cols, shape.rows};
  for (const auto& [from, to] : {std::pair<index_t, index_t>{0, half}, {half, k}}) {
    if (from == to) continue;
    LanczosTest::Args args;
    Numbers coefficients = poisoned<double>(4 * k * runs.at_a_time);
    for (index_t s = 0; s < runs.at_a_time - 1; ++s) {  // the last run has no steps
      args.of[at(s)] = {LocalRuns::goal(s, wanted), s * k, to - from, from == 0, true};
      std::copy_n(&runs.coefficients[at(4 * (s * k + from))], 4 * (to - from), &coefficients[at(4 * s * k)]);
    }
    std::vector<index_t> verdicts(at(2 * runs.at_a_time), 99);
    LanczosTest::cpu(args, in(coefficients, k * runs.at_a_time), all, out(verdicts, runs.at_a_time));
    for (index_t s = 0; s < runs.at_a_time; ++s)
      for (index_t part = 0; part < 2; ++part) {
        CAPTURE(k, to, s, part);
        const bool idle = s == runs.at_a_time - 1;
        CHECK(verdicts[at(2 * s + part)] ==
              (idle ? 0 : static_cast<index_t>(runs.pairs(s, part, to, LocalRuns::goal(s, wanted)).size())));
      }
  }
  for (index_t s = 0; s < runs.at_a_time - 1; ++s)
    for (const int only : {-1, 0, 1}) {
      Numbers z = poisoned<double>(k * most * (only < 0 ? 2 : 1));
      RitzSelect<double>::cpu({LocalRuns::goal(s, wanted), s, only},
                              In<double>{histories.data(), shape.rows, shape.cols, shape.rows},
                              out(z, most * (only < 0 ? 2 : 1)));
      for (int part = std::max(only, 0); part <= (only < 0 ? 1 : only); ++part) {
        const auto right = runs.pairs(s, part, k, LocalRuns::goal(s, wanted));
        for (index_t j = 0; j < most; ++j) {
          const double* const column = &z[at((j + (only < 0 ? part * most : 0)) * k)];
          CAPTURE(k, s, only, part, j);
          if (j >= static_cast<index_t>(right.size())) {
            // As with all eigenvalues that are wanted but have not converged: NaN, then zeros.
            CHECK((j < LocalRuns::goal(s, wanted).wanted[at(part)] ? std::isnan(column[0]) : column[0] == 0));
            continue;
          }
          const Numbers& v = right[at(j)].vector;
          double product = 0;
          for (std::size_t i = 0; i < v.size(); ++i) product += v[i] * column[i];
          CHECK(std::abs(std::abs(product) - 1) <= 1e-12);
          CHECK(std::all_of(column + v.size(), column + k, [](double x) { return x == 0; }));
        }
      }
    }
}

}  // namespace

TEST_CASE("tests of Lanczos runs agree with LAPACK") {
  for (const index_t k : {1, 2, 3, 40, 70}) check_runs(LocalRuns(k), 3);
  LocalRuns invariant(40);
  invariant.coefficients[at(4 * 29 + 1)] = 0;  // run 0, part 0: an invariant space of 30 steps
  check_runs(invariant, 30);
}

TEST_CASE("a coefficient that is not finite breaks a run") {
  const index_t k = 5;
  LocalRuns runs(k);
  runs.coefficients[at(4 * (k + 2) + 3)] = std::nan("");  // run 1
  Numbers histories(at(lanczos_histories(k).rows * lanczos_histories(k).cols));
  LanczosTest::Args args;
  for (index_t s = 0; s < 2; ++s) args.of[at(s)] = {LocalRuns::goal(s, 2), s * k, k, true, true};
  std::vector<index_t> verdicts(16, 99);
  LanczosTest::cpu(args, in(runs.coefficients, k * runs.at_a_time),
                   InOut<double>{histories.data(), 4, lanczos_histories(k).cols, 4}, out(verdicts, 8));
  CHECK(verdicts[0] >= 0);
  CHECK(verdicts[2] == -1);
  CHECK(verdicts[3] == -1);
}

TEST_CASE("Ritz values and last components agree with LAPACK") {
  for (const index_t n : {0, 1, 2, 3, 50}) check_ritz_values({uniform(n, 1), uniform(n, 2)}, true);
  for (const index_t n : {2, 3, 50}) {
    Tridiagonal split{uniform(n, 3), uniform(n, 4)};
    for (index_t k = 0; k < n; k += 3) split.e[at(k)] = 0;
    check_ritz_values(split, true);
    check_ritz_values({uniform(n, 3), Numbers(at(n))}, true);  // diagonal
    check_ritz_values({Numbers(at(n)), Numbers(at(n), 1)}, true);
    check_ritz_values({Numbers(at(n)), Numbers(at(n))}, false);  // zero
    check_ritz_values({Numbers(at(n), 2), Numbers(at(n), 1e-30)}, false);
  }
  for (const bool up : {true, false}) {  // graded by 16 orders of magnitude
    Tridiagonal graded{uniform(50, 5), uniform(50, 6)};
    for (index_t k = 0; k < 50; ++k) {
      const double scale = std::pow(10, -16.0 * static_cast<double>(up ? 49 - k : k) / 49);
      graded.d[at(k)] = (2 + graded.d[at(k)]) * scale, graded.e[at(k)] *= scale;
    }
    check_ritz_values(graded, false);
  }
}

TEST_CASE("QL steps end on NaN and report it") {
  Numbers d{1, std::nan(""), 2}, e{1, 1, 0}, last(3);
  const bool converged = lanczos::ritz_values(3, d.data(), e.data(), last.data());
  CHECK((!converged || std::any_of(d.begin(), d.end(), [](double v) { return std::isnan(v); })));
}

TEST_CASE("the generators of a Toeplitz matrix in the sine basis agree with sums") {
  for (const index_t n : {1, 2, 3, 64, 65, 501}) {
    const Numbers t = uniform(n, 7), c = generators(t);
    const double scale = std::sqrt(2 / static_cast<double>(n + 1));
    double size = 0, error = 0;
    for (index_t row = 0; row < n; ++row) {
      const index_t i = number(n, row);
      const double f = static_cast<double>(i) * angle(n);
      double u = 0, d = t[0];
      for (index_t k = 1; k < n; ++k) {
        u += t[at(k)] * std::sin(sine_angle(n, i, k));
        d += t[at(k)] * scale * scale *
             (static_cast<double>(n - k + 1) * std::cos(sine_angle(n, i, k)) +
              std::sin(sine_angle(n, i, k)) / std::tan(f));
      }
      size = std::max({size, std::abs(u), std::abs(d)});
      error = std::max({error, std::abs(c[at(row)] + scale * u / 2), std::abs(c[at(row + n)] - scale * std::sin(f)),
                        std::abs(c[at(row + 2 * n)] - d)});
    }
    CAPTURE(n);
    CHECK(error <= 3e-14 * size);
  }
}

TEST_CASE("products with the blocks agree with dense matrices") {
  for (const index_t n : {1, 2, 3, 64, 65, 501}) {
    const Numbers c = generators(uniform(n, 8)), x = uniform(n, 9), table = tables(n);
    Numbers y = poisoned<double>(n), z = poisoned<double>(cauchy_work(n, 1).rows);
    cauchy::multiply(n, table.data(), static_cast<index_t>(table.size()) / 6, c.data(), n, x.data(), y.data(),
                     z.data());
    const HostMatrix<double> a = blocks(n, c);
    CAPTURE(n);
    CHECK(distance(y, product(a, x)) <= 1e-14 * frobenius(a) * norm(x));
  }
}

TEST_CASE("the blocks are the matrix between two sine transforms") {
  for (const index_t n : {1, 2, 3, 64, 65}) {
    const Numbers t = uniform(n, 10), x = uniform(n, 11);
    // S T S x with x in the order of the blocks.
    const double scale = std::sqrt(2 / static_cast<double>(n + 1));
    const auto sine = [&](index_t i, index_t row) { return scale * std::sin(sine_angle(n, i + 1, number(n, row))); };
    Numbers sx(at(n)), tsx(at(n)), y(at(n));
    for (index_t i = 0; i < n; ++i)
      for (index_t r = 0; r < n; ++r) sx[at(i)] += sine(i, r) * x[at(r)];
    for (index_t i = 0; i < n; ++i)
      for (index_t j = 0; j < n; ++j) tsx[at(i)] += t[at(std::abs(i - j))] * sx[at(j)];
    for (index_t r = 0; r < n; ++r)
      for (index_t i = 0; i < n; ++i) y[at(r)] += sine(i, r) * tsx[at(i)];
    const HostMatrix<double> a = blocks(n, generators(t));
    CAPTURE(n);
    CHECK(distance(product(a, x), y) <= 1e-13 * frobenius(a) * norm(x));
  }
}

TEST_CASE("the quality of an inverse is small at a good shift and names a bad inverse") {
  for (const index_t n : {1, 2, 3, 64, 501}) {
    const Numbers t = uniform(n, 13), c = generators(t), table = tables(n), sigma{50, -60};
    Numbers inverse = poisoned<double>(6 * n), report = poisoned<double>(4 * CauchyReport::rows),
            starts = uniform(n, 14);
    CauchyInvert<double>::cpu({}, in(c, 3), in(sigma), out(inverse, 6), out(report, 4), {});
    Numbers work = poisoned<double>(lanczos_work(n, 2, 1).rows);
    const auto quality = [&](const Numbers& with) {
      Numbers q = poisoned<double>(4);
      CauchyInverseError<double>::cpu(
          {}, in(c, 3), in(table, 6), in(sigma), in(with, 6), in(starts), out(q, 2),
          Scratch<double>{work.data(), static_cast<index_t>(work.size()), 1, static_cast<index_t>(work.size())});
      return q;
    };
    CAPTURE(n);
    for (const double q : quality(inverse)) CHECK(q <= 1e-13 * norm(starts));
    inverse[at(5 * n)] *= 1 + 1e-6;  // the first diagonal element of the second shift
    const Numbers spoiled = quality(inverse);
    CHECK(spoiled[0] <= 1e-13 * norm(starts));
    CHECK(spoiled[2] >= 1e-8 * std::abs(starts[0]));
    if (n > 1) CHECK(spoiled[3] <= 1e-13 * norm(starts));
  }
}

TEST_CASE("the two halves have the eigenvalues of the whole matrix") {
  for (const index_t n : {1, 2, 3, 4, 64, 65}) {
    const auto t = toeplitz_column<double>({ToeplitzKind::random, 0, 15}, n);
    Numbers values;
    for (int part = 0; part < 2; ++part) {
      const index_t rows = cauchy_rows(n, part);
      Numbers a = poisoned<double>(rows * rows), w(at(rows));
      toeplitz_half(n, t.data(), part, a.data(), rows);
      for (index_t j = 0; j < rows; ++j)
        for (index_t i = 0; i < rows; ++i) CHECK(a[at(i + j * rows)] == a[at(j + i * rows)]);
      REQUIRE(lapack::syevd(rows, a.data(), rows, w.data(), false) == 0);
      values.insert(values.end(), w.begin(), w.end());
    }
    std::sort(values.begin(), values.end());
    const Numbers right = dense_eigenvalues(t);
    CAPTURE(n);
    CHECK(distance(values, right) <= 1e-14 * static_cast<double>(n) * norm(right));
  }
}
