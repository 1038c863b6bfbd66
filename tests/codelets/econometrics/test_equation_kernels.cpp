#include "tests/support/equation_model.hpp"
#include "tests/support/run_kernel.hpp"
#include "tests/support/shared_runtime.hpp"
#include <tesela/algorithms/support/schedule.hpp>
#include <tesela/codelets/econometrics/basis_times.hpp>
#include <tesela/codelets/econometrics/equation_bases.hpp>
#include <tesela/codelets/econometrics/equation_givens.hpp>
#include <tesela/codelets/econometrics/equation_gram.hpp>
#include <tesela/codelets/econometrics/equation_qr.hpp>
#include <tesela/codelets/econometrics/equation_reuse.hpp>
#include <tesela/codelets/econometrics/gradient_step.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <numeric>
#include <random>

using namespace tesela::test;
using namespace tesela::kernels;

namespace {

using Model = EquationModel;

struct Sizes {
  index_t r, exogenous;
};

template <class T>
Block<T> block(const HostMatrix<std::remove_const_t<T>>& a) {
  return {const_cast<T*>(a.data()), a.rows(), a.cols(), a.ld()};
}

struct Found {
  HostMatrix<double> facts, residual;
  double length;  ///< norm of y in the rows of the instruments
};

Found by_qr(Runtime* runtime, const Model& m, const HostMatrix<int>& picks) {
  const index_t r = picks.cols() - 2;
  Found f{HostMatrix<double>(r + 1, 4), HostMatrix<double>(m.M, 1), m.norm_of_y()};
  const Shape size = equation_work(m.K, r, runtime != nullptr && runtime->gpus() > 0);
  HostMatrix<double> work(size.rows, size.cols);
  const int* const heights = picks.data() + 1;
  run_kernel<EquationQr>(runtime, {m.K, equation_panels(heights, r, 2, m.K), staircase_flops(heights, r + 1, 2)}, m.a,
                         picks, f.facts, f.residual, work);
  return f;
}

Found by_gram(Runtime* runtime, const Model& m, const HostMatrix<int>& picks, index_t count) {
  const index_t r = picks.cols() / count - 2;
  Found f{HostMatrix<double>(r + 1, 4 * count), HostMatrix<double>(m.M, count), m.norm_of_y()};
  const Shape size = equation_gram_work(r, count, runtime != nullptr && runtime->gpus() > 0);
  HostMatrix<double> work(size.rows, size.cols);
  run_kernel<EquationGram>(runtime, {count}, m.a, m.gram, picks, f.facts, f.residual, work);
  return f;
}

Found by_rotations(Runtime* runtime, const Model& m, const HostMatrix<int>& picks, index_t count) {
  const index_t r = picks.cols() / count - 2;
  Found f{HostMatrix<double>(r + 1, 4 * count), HostMatrix<double>(m.M, count), m.norm_of_y()};
  const Shape size = equation_givens_work(m.K, r, count, runtime != nullptr && runtime->gpus() > 0);
  HostMatrix<double> work(size.rows, size.cols);
  run_kernel<EquationGivens>(runtime, {count, m.K, 1.0}, m.a, picks, f.facts, f.residual, work);
  return f;
}

/// Rotates the columns of picks, sorted by heights, with two carried ones and two dependent variables, the own one
/// last.
Found by_reuse(Runtime* runtime, const Model& m, const HostMatrix<int>& picks, HostMatrix<double>& w) {
  const index_t r = picks.cols() - 2;
  Found f{HostMatrix<double>(r + 1, 4), HostMatrix<double>(m.M, 1), m.norm_of_y()};
  std::vector<index_t> sorted(static_cast<std::size_t>(r));
  std::iota(sorted.begin(), sorted.end(), index_t{0});
  std::stable_sort(sorted.begin(), sorted.end(), [&](index_t p, index_t q) { return picks(1, p) < picks(1, q); });
  HostMatrix<int> plan(2, r + 4), order(1, r);
  for (index_t p = 0; p < r; ++p) {
    const index_t q = sorted[static_cast<std::size_t>(p)];
    plan(0, p) = picks(0, q), plan(1, p) = picks(1, q);
    order(0, q) = static_cast<int>(p);
  }
  const index_t others[] = {0, m.K / 2, m.M - 2, m.M - 1};
  for (index_t k = 0; k < 4; ++k) {
    plan(0, r + k) = static_cast<int>(others[k]);
    plan(1, r + k) = static_cast<int>(std::min(others[k] + 1, m.K));
  }
  w = HostMatrix<double>(m.K, r + 4);
  const Shape size = equation_reuse_work(m.K, r, runtime != nullptr && runtime->gpus() > 0);
  HostMatrix<double> work(size.rows, size.cols);
  run_kernel<EquationReuse>(runtime, {r + 3, 1.0}, m.a, m.a, picks, plan, order, w, f.facts, f.residual, work);
  return f;
}

/// Returns the distance of the results of equation `i` in a group with room for `room` regressors from those of the
/// equation alone.
double apart(const Found& group, index_t i, index_t room, const Found& alone) {
  const index_t r = alone.facts.rows() - 1;
  double most = 0;
  for (index_t k = 0; k < 4; ++k) {
    double size = 0, distance = 0;
    for (index_t p = 0; p < r; ++p) {
      size = std::max(size, std::abs(alone.facts(p, k)));
      distance = std::max(distance, std::abs(group.facts(p, 4 * i + k) - alone.facts(p, k)));
    }
    if (size > 0) most = std::max(most, distance / size);
  }
  // Y may lie almost entirely in the span of the constant.
  for (const auto& [k, unit] : {std::pair{0, alone.facts(r, 0)}, {1, alone.length}})
    most = std::max(most, std::abs(group.facts(room, 4 * i + k) - alone.facts(r, k)) / unit);
  for (index_t k = 2; k < 4; ++k) CHECK(group.facts(room, 4 * i + k) == 0);
  double size = 0, distance = 0;
  for (index_t k = 0; k < alone.residual.rows(); ++k) {
    size = std::max(size, std::abs(alone.residual(k, 0)));
    distance = std::max(distance, std::abs(group.residual(k, i) - alone.residual(k, 0)));
  }
  return std::max(most, distance / size);
}

/// Compares the results from a triangle that other equations reuse with QR by LAPACK, and the triangle and the carried
/// columns with a core's. The exogenous columns also come in the reverse order, which a second QR restores.
void check_reuse(Runtime* runtime, const Model& m, const Sizes& s, const Found& alone, double bound) {
  HostMatrix<int> picks = m.picks(s.r, s.exogenous, s.r);
  HostMatrix<double> w, expected;
  CAPTURE(m.K, s.r, s.exogenous, bound);
  CHECK(apart(by_reuse(runtime, m, picks, w), 0, s.r, alone) <= bound);
  by_reuse(nullptr, m, picks, expected);
  double most = 0, size = 0;
  for (index_t j = 0; j < w.cols(); ++j)
    for (index_t i = 0; i < w.rows(); ++i) {
      size = std::max(size, std::abs(expected(i, j)));
      most = std::max(most, std::abs(w(i, j) - expected(i, j)));
      if (j < s.r && i > j) CHECK(w(i, j) == 0);
    }
  CHECK(most <= 1e-13 * size);
  for (index_t p = 0; p < s.exogenous / 2; ++p)
    for (int k = 0; k < 2; ++k) std::swap(picks(k, p), picks(k, s.exogenous - 1 - p));
  const Found turned = by_reuse(nullptr, m, picks, expected);
  for (index_t p = 0; p < s.exogenous; ++p) {  // standard errors do not depend on the order
    const double a = turned.facts(s.exogenous - 1 - p, 1), b = alone.facts(p, 1);
    CHECK(std::abs(a - b) <= bound * std::abs(b));
  }
  CHECK(apart(by_reuse(runtime, m, picks, w), 0, s.r, turned) <= bound);
}

/// Compares the results by products and by rotations on this runtime with QR by LAPACK on a core.
void check_facts(Runtime* runtime, const Model& m, const std::vector<Sizes>& equations, double bound) {
  index_t room = 0;
  for (const Sizes& s : equations) room = std::max(room, s.r);
  const auto count = static_cast<index_t>(equations.size());
  HostMatrix<int> all(2, count * (room + 2));
  std::vector<Found> alone;
  for (index_t i = 0; i < count; ++i) {
    const Sizes& s = equations[static_cast<std::size_t>(i)];
    const HostMatrix<int> own = m.picks(s.r, s.exogenous, s.r), padded = m.picks(s.r, s.exogenous, room);
    std::copy_n(padded.data(), 2 * (room + 2), &all(0, i * (room + 2)));
    alone.push_back(by_qr(nullptr, m, own));
    check_reuse(runtime, m, s, alone.back(), bound);
    if (runtime == nullptr) continue;
    const double distance = apart(by_qr(runtime, m, own), 0, s.r, alone.back());
    CAPTURE(m.K, s.r, s.exogenous, "equation_qr", distance, bound);
    CHECK(distance <= bound);
  }
  const Found products = by_gram(runtime, m, all, count), rotated = by_rotations(runtime, m, all, count);
  for (index_t i = 0; i < count; ++i) {
    const Sizes& s = equations[static_cast<std::size_t>(i)];
    const Found& own = alone[static_cast<std::size_t>(i)];
    CAPTURE(m.K, s.r, s.exogenous, i, bound);
    CHECK(apart(products, i, room, own) <= bound);
    CHECK(apart(rotated, i, room, own) <= bound);
  }
}

/// Coefficients from products are corrected; without the correction their error grows with the square of the condition.
void check_correction(Runtime* runtime) {
  const Model m(70, 75, 3e-4);
  const HostMatrix<int> picks = m.picks(66, 64, 66);
  const Found expected = by_qr(nullptr, m, picks), found = by_gram(runtime, m, picks, 1);
  double size = 0, distance = 0, of_errors = 0;
  for (index_t p = 0; p < 66; ++p) {
    size = std::max(size, std::abs(expected.facts(p, 0)));
    distance = std::max(distance, std::abs(found.facts(p, 0) - expected.facts(p, 0)));
    of_errors = std::max(of_errors, std::abs(found.facts(p, 1) / expected.facts(p, 1) - 1));
  }
  CAPTURE(expected.facts(66, 0), distance / size, of_errors);
  CHECK(expected.facts(66, 0) > 3e4);
  CHECK(distance <= 3e-11 * size);
  CHECK(of_errors <= 1e-6);
}

/// An equation with the same column twice must fail and not affect the other.
void check_failure(Runtime* runtime) {
  const Model m(9, 14, 1);
  const HostMatrix<int> good = m.picks(5, 3, 5);
  HostMatrix<int> both(2, 14);
  std::copy_n(good.data(), 14, &both(0, 0));
  std::copy_n(good.data(), 14, &both(0, 7));
  both(0, 8) = both(0, 7), both(1, 8) = both(1, 7);  // in the second equation
  const Found f = by_gram(runtime, m, both, 2);
  CHECK(apart(f, 0, 5, by_qr(nullptr, m, good)) <= 1e-12);
  CHECK_FALSE(f.facts(5, 4) <= 1e4);
}

/// Checks Z = Q R and the orthogonality of Q.
void check_factors(const Model& m, const Sizes& s, const HostMatrix<int>& picks, const HostMatrix<double>& Q,
                   const HostMatrix<double>& R) {
  double product = 0, orthogonality = 0, largest = 0, below = 0;
  for (index_t p = 0; p < s.r; ++p)
    for (index_t i = 0; i < m.K; ++i) {
      double sum = 0;
      for (index_t k = 0; k <= p; ++k) sum += Q(i, k) * R(k, p);
      const double z = i < picks(1, p) ? m.a(i, picks(0, p)) : 0;
      largest = std::max(largest, std::abs(z));
      product = std::max(product, std::abs(sum - z));
    }
  for (index_t p = 0; p < s.r; ++p)
    for (index_t k = 0; k < s.r; ++k) {
      double sum = p == k ? -1 : 0;
      for (index_t i = 0; i < m.K; ++i) sum += Q(i, p) * Q(i, k);
      orthogonality = std::max(orthogonality, std::abs(sum));
      if (k > p) below = std::max(below, std::abs(R(k, p)));
    }
  CAPTURE(m.K, s.r, s.exogenous, product / largest, orthogonality);
  CHECK(below == 0);
  CHECK(product <= 1e-13 * largest);
  CHECK(orthogonality <= 1e-13);
}

void check_basis(Runtime* runtime, const Model& m, const Sizes& s) {
  const HostMatrix<int> picks = m.picks(s.r, s.exogenous, s.r);
  HostMatrix<double> Q(m.K, s.r), R(s.r, s.r);
  const Shape size = equation_work(m.K, s.r, runtime != nullptr && runtime->gpus() > 0);
  HostMatrix<double> work(size.rows, size.cols);
  const int* const heights = picks.data() + 1;
  run_kernel<EquationBasis>(runtime, {equation_panels(heights, s.r, 2, m.K), staircase_flops(heights, s.r, 2)}, m.a,
                            picks, Q, R, work);
  check_factors(m, s, picks, Q, R);
}

/// Several equations in one task.
void check_bases(Runtime* runtime, const Model& m, const std::vector<Sizes>& equations) {
  index_t room = 0;
  for (const Sizes& s : equations) room = std::max(room, s.r);
  const auto count = static_cast<index_t>(equations.size());
  HostMatrix<int> all(2, count * (room + 2));
  HostMatrix<double> R(room, room * count);
  std::vector<HostMatrix<double>> Q;
  std::vector<Out<double>> blocks;
  for (index_t i = 0; i < count; ++i) {
    const Sizes& s = equations[static_cast<std::size_t>(i)];
    const HostMatrix<int> padded = m.picks(s.r, s.exogenous, room);
    std::copy_n(padded.data(), 2 * (room + 2), &all(0, i * (room + 2)));
    Q.emplace_back(m.K, s.r);
  }
  for (const HostMatrix<double>& one : Q) blocks.push_back({block<double>(one)});
  const Shape size = equation_bases_work(m.K, room, count, runtime != nullptr && runtime->gpus() > 0);
  HostMatrix<double> work(size.rows, size.cols);
  run_kernel<EquationBases>(runtime, {count, m.K, 1.0}, m.a, all, R, work, blocks);
  for (index_t i = 0; i < count; ++i) {
    const Sizes& s = equations[static_cast<std::size_t>(i)];
    HostMatrix<double> own(s.r, s.r);
    for (index_t j = 0; j < s.r; ++j) std::copy_n(&R(0, i * room + j), s.r, &own(0, j));
    check_factors(m, s, m.picks(s.r, s.exogenous, s.r), Q[static_cast<std::size_t>(i)], own);
  }
}

/// Products with bases, some of them with fewer rows; more of them than one launch processes.
void check_products(Runtime* runtime, index_t rows, index_t count) {
  std::mt19937 random(5);
  std::normal_distribution<double> normal;
  std::vector<HostMatrix<double>> q;
  std::vector<In<double>> blocks;
  index_t n = 0;
  for (index_t i = 0; i < count; ++i) {
    q.emplace_back(i % 3 == 1 ? rows - 1 : rows, 1 + i % 13);
    std::generate_n(q.back().data(), q.back().size(), [&] { return normal(random); });
    n += q.back().cols();
  }
  for (const HostMatrix<double>& one : q) blocks.push_back({block<const double>(one)});
  HostMatrix<double> x(n, 1), y(n, 1), w(rows, count), v(rows, count);
  std::generate_n(x.data(), x.size(), [&] { return normal(random); });
  std::generate_n(v.data(), v.size(), [&] { return normal(random); });
  std::fill_n(w.data(), w.size(), std::numeric_limits<double>::quiet_NaN());
  run_kernel<BasisTimes>(runtime, {}, x, w, blocks);
  run_kernel<BasisTransposedTimes>(runtime, {}, v, y, blocks);
  double most = 0;
  index_t first = 0;
  for (index_t e = 0; e < count; ++e) {
    const HostMatrix<double>& own = q[static_cast<std::size_t>(e)];
    for (index_t i = 0; i < rows; ++i) {
      double sum = -w(i, e);
      for (index_t j = 0; j < own.cols() && i < own.rows(); ++j) sum += own(i, j) * x(first + j, 0);
      most = std::isfinite(sum) ? std::max(most, std::abs(sum)) : INFINITY;
    }
    for (index_t j = 0; j < own.cols(); ++j) {
      double sum = -y(first + j, 0);
      for (index_t i = 0; i < own.rows(); ++i) sum += own(i, j) * v(i, e);
      most = std::isfinite(sum) ? std::max(most, std::abs(sum)) : INFINITY;
    }
    first += own.cols();
  }
  CAPTURE(rows, count);
  CHECK(most <= 1e-12);
}

void check_solution(Runtime* runtime, index_t n, index_t count) {
  std::mt19937 random(7);
  std::normal_distribution<double> normal;
  HostMatrix<double> R(n, n * count), x(n, count), b(n, count);
  std::generate_n(R.data(), R.size(), [&] { return normal(random) / static_cast<double>(n); });
  std::generate_n(b.data(), b.size(), [&] { return normal(random); });
  for (index_t i = 0; i < count; ++i)
    for (index_t j = 0; j < n; ++j) {
      R(j, i * n + j) += 2;
      // Must not be read.
      for (index_t k = j + 1; k < n; ++k) R(k, i * n + j) = std::numeric_limits<double>::quiet_NaN();
    }
  std::copy_n(b.data(), b.size(), x.data());
  run_kernel<BasisSolve>(runtime, {}, R, x);
  double most = 0;
  for (index_t i = 0; i < count; ++i)
    for (index_t j = 0; j < n; ++j) {
      double sum = -b(j, i);
      for (index_t k = j; k < n; ++k) sum += R(j, i * n + k) * x(k, i);
      most = std::isfinite(sum) ? std::max(most, std::abs(sum)) : INFINITY;
    }
  CAPTURE(n, count);
  CHECK(most <= 1e-13);
}

void check_gradients(Runtime* runtime, index_t n) {
  std::mt19937 random(9);
  std::normal_distribution<double> normal;
  HostMatrix<double> p(n, 1), q(n, 1), x(n, 1), r(n, 1), sum(1, 1);
  for (HostMatrix<double>* v : {&p, &q, &x, &r}) std::generate_n(v->data(), n, [&] { return normal(random); });
  const HostMatrix<double> x0 = x.clone(), r0 = r.clone(), p0 = p.clone();
  const double step = 0.7, turn = -0.3, bound = 1e-13 * static_cast<double>(n);
  run_kernel<GradientProduct>(runtime, {}, p, q, sum);
  double product = 0, square = 0, distance = 0;
  for (index_t k = 0; k < n; ++k) product += p(k, 0) * q(k, 0);
  CAPTURE(n);
  CHECK(std::abs(sum(0, 0) - product) <= bound);
  run_kernel<GradientStep>(runtime, {step}, p, q, x, r, sum);
  run_kernel<GradientDirection>(runtime, {turn}, r, p);
  for (index_t k = 0; k < n; ++k) {
    const double left = r0(k, 0) - step * q(k, 0);
    square += left * left;
    distance = std::max({distance, std::abs(x(k, 0) - x0(k, 0) - step * p0(k, 0)), std::abs(r(k, 0) - left),
                         std::abs(p(k, 0) - left - turn * p0(k, 0))});
  }
  CHECK(std::abs(sum(0, 0) - square) <= bound);
  CHECK(distance <= 1e-14);
}

void check_all(Runtime* runtime, bool small) {
  for (const index_t n : {1, 255, 1030, 5000}) check_gradients(runtime, n);
  for (const auto& [n, count] : {std::pair<index_t, index_t>{1, 1}, {32, 3}, {33, 2}, {70, 4}})
    check_solution(runtime, n, count);
  for (const auto& [rows, count] : {std::pair<index_t, index_t>{1, 1}, {32, 3}, {61, 70}, {40, 128}})
    check_products(runtime, rows, count);
  check_facts(runtime, Model(1, 2, 1), {{1, 1}, {1, 0}}, 1e-12);
  check_facts(runtime, Model(7, 12, 1), {{7, 4}, {3, 0}, {5, 5}, {6, 2}}, 1e-11);
  check_facts(runtime, Model(70, 75, 1e-2), {{66, 64}, {64, 62}, {65, 64}}, 1e-9);
  check_correction(runtime);
  check_failure(runtime);
  for (const Sizes& s : {Sizes{1, 0}, {7, 4}, {3, 3}}) check_basis(runtime, Model(7, 12, 1), s);
  check_basis(runtime, Model(70, 75, 1e-6), {66, 64});
  check_bases(runtime, Model(1, 2, 1), {{1, 1}});
  check_bases(runtime, Model(7, 12, 1), {{7, 4}, {3, 0}, {5, 5}, {6, 2}});
  check_bases(runtime, Model(70, 75, 1e-2), {{66, 64}, {64, 62}});
  if (small) return;
  check_solution(runtime, 300, 3);
  check_bases(runtime, Model(301, 420, 1), {{201, 131}, {150, 150}, {190, 100}});
  check_facts(runtime, Model(301, 420, 1), {{201, 131}, {150, 150}, {190, 100}, {200, 198}}, 1e-10);
  check_basis(runtime, Model(301, 420, 1), {201, 131});
  check_basis(runtime, Model(560, 800, 1), {530, 330});  // panels of 64
}

}  // namespace

KERNEL_TEST_CASE("results of an equation by products agree with QR, and bases are orthonormal") {
  check_all(runtime, false);
}

TEST_CASE("rotations follow the schedule") {
  const Model m(30, 40, 1);
  for (const Sizes& s : {Sizes{1, 1}, {12, 5}, {20, 15}, {9, 0}}) {
    const HostMatrix<int> picks = m.picks(s.r, s.exogenous, s.r);
    std::vector<index_t> ends;
    for (index_t p = 0; p < s.r; ++p) ends.push_back(picks(1, p));
    const Schedule schedule = make_schedule("diagonal", m.K, s.r, {}, ends);
    CHECK(staircase_rotations(picks.data() + 1, s.r, 2) == static_cast<index_t>(schedule.eliminations.size()));
  }
  const int example[] = {2, 4, 6, 6, 6};  // Ramiro Sánchez 2010, section 5.6.3
  CHECK(staircase_rotations(example, 5, 1) == 9);
}

GPU_TEST_CASE("results of small equations agree on a GPU", "[sanitize]") { check_all(&runtime, true); }
