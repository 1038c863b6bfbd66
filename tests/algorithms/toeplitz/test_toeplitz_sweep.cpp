#include "tests/support/machine.hpp"
#include "tests/support/test.hpp"
#include "tools/checks/toeplitz_spectrum_error.hpp"
#include <tesela/algorithms/toeplitz/toeplitz_spectrum.hpp>
#include <tesela/tiles/generator.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <numbers>

// Compares many kinds of matrices, orders and scales with LAPACK. A thinned sweep always runs; the full one by
//   test_toeplitz_sweep "[.sweep]"

using namespace tesela;

namespace {

// First columns of symmetric Toeplitz matrices that are difficult for different reasons.
struct ToeplitzCase {
  std::string kind;
  HostMatrix<double> t;
};

constexpr index_t toeplitz_cases = 22;

/// Returns number `kind` of toeplitz_cases with order n and random numbers from `seed`.
ToeplitzCase toeplitz_case(index_t kind, index_t n, std::uint64_t seed) {
  const Generator<double> random{Pattern::uniform, 0, 0, seed};
  const auto u = [&](index_t k) { return random.uniform(k, 0); };  // in [-1, 1)
  const auto pi = std::numbers::pi;
  ToeplitzCase c{"", HostMatrix<double>(n, 1)};
  const auto fill = [&](const char* name, auto f) {
    c.kind = name;
    for (index_t k = 0; k < n; ++k) c.t(k, 0) = f(k);
  };
  const auto x = [](index_t k) { return static_cast<double>(k); };
  switch (kind) {
    case 0: fill("random", u); break;
    case 1: {
      fill("positive definite", u);
      double sum = 0;
      for (index_t k = 1; k < n; ++k) sum += 2 * std::abs(c.t(k, 0));
      c.t(0, 0) = sum + 1;
      break;
    }
    case 2: {
      const double w = 0.25 + 0.2 * u(0);
      fill("prolate", [&](index_t k) { return k == 0 ? 2 * w : std::sin(2 * pi * w * x(k)) / (pi * x(k)); });
      break;
    }
    case 3: fill("Kac-Murdock-Szego", [&](index_t k) { return std::pow(0.95 * u(0), x(k)); }); break;
    case 4: fill("second difference", [](index_t k) { return k == 0 ? 2 : k == 1 ? -1 : 0; }); break;
    case 5: fill("singular minors", [&](index_t k) { return k == 1 || (n % 2 == 1 && k == n - 1) ? 1 : 0; }); break;
    case 6: fill("ones", [](index_t) { return 1; }); break;
    case 7: fill("zeros", [](index_t) { return 0; }); break;
    case 8: fill("identity", [](index_t k) { return k == 0 ? 1 : 0; }); break;
    case 9: fill("alternating", [](index_t k) { return k % 2 == 0 ? 1 : -1; }); break;
    case 10: fill("1, 0, 1, 0", [](index_t k) { return k % 2 == 0 ? 1 : 0; }); break;
    case 11: fill("tridiagonal", [&](index_t k) { return k < 2 ? u(k) : 0; }); break;
    case 12: fill("banded", [&](index_t k) { return k < 6 ? u(k) : 0; }); break;
    case 13: fill("a cosine", [&](index_t k) { return std::cos(x(k) * pi * u(0)); }); break;
    case 14:
      fill("two cosines", [&](index_t k) { return std::cos(x(k) * pi * u(0)) + u(2) * std::cos(x(k) * pi * u(1)); });
      break;
    case 15: fill("circulant", [&](index_t k) { return u(std::min(k, n - k)); }); break;  // double eigenvalues
    case 16: fill("decaying", [&](index_t k) { return 1 / ((1 + x(k)) * (1 + x(k))); }); break;
    case 17: fill("increasing", x); break;
    case 18: {
      const auto m = static_cast<index_t>(std::abs(u(0)) * x(n));
      fill("one diagonal", [&](index_t k) { return k == m ? 1 : 0; });
      break;
    }
    case 19: fill("1e-150 to 1e150", [&](index_t k) { return u(k) * std::pow(10.0, 150 * u(k + n)); }); break;
    case 20: {
      const double alpha = 0.45 * u(0);  // Fisher and Hartwig's symbol |1 - z|^(2 alpha)
      double element = 1;
      fill("Fisher-Hartwig", [&](index_t k) {
        if (k > 0) element *= (x(k) - 1 - alpha) / (x(k) + alpha);
        return element;
      });
      break;
    }
    default: fill("integers", [&](index_t k) { return std::floor(10 * u(k)); }); break;
  }
  return c;
}

constexpr double infinity = std::numeric_limits<double>::infinity();

struct Worst {
  double error = 0, bound_used = 0, seconds = 0;
  int matrices = 0, refused = 0;
};

/// Returns the part selected by TESELA_SWEEP="FIRST STEP", which splits the matrices among processes.
std::pair<index_t, index_t> part() {
  const char* text = std::getenv("TESELA_SWEEP");
  long first = 0, step = 1;
  if (text != nullptr && std::sscanf(text, "%ld %ld", &first, &step) != 2) FAIL("TESELA_SWEEP is two numbers");
  return {first, step};
}

template <class T>
HostMatrix<T> scaled(const HostMatrix<double>& t, double by) {
  HostMatrix<T> s(t.rows(), 1);
  for (index_t k = 0; k < t.rows(); ++k) s(k, 0) = static_cast<T>(t(k, 0) * by);
  return s;
}

template <class T>
void check_counts(Graph& g, const HostMatrix<T>& t, const std::vector<double>& right, double near) {
  const SineToeplitz<T> A(g, {t.data(), static_cast<std::size_t>(t.rows())});
  std::vector<double> shifts{0, right.front(), right.back(), right[right.size() / 2]};
  for (std::size_t i = 1; i < right.size(); i += right.size() / 5 + 1) shifts.push_back((right[i - 1] + right[i]) / 2);
  const std::vector<Inertia> counted = toeplitz_count<T>(g, A, shifts);
  for (std::size_t i = 0; i < shifts.size(); ++i) {
    INFO("shift " << shifts[i] << " counted at " << counted[i].shift << ", resolution " << near);
    const auto least = std::count_if(right.begin(), right.end(), [&](double v) { return v < shifts[i] - 1030 * near; });
    const auto most = std::count_if(right.begin(), right.end(), [&](double v) { return v < shifts[i] - 2 * near; });
    CHECK(counted[i].total() >= least);
    CHECK(counted[i].total() <= most);
  }
}

template <class T>
void check_one(Runtime& runtime, const ToeplitzCase& c, double scale, bool vectors, SpectrumMethod method,
               Worst& worst) {
  const index_t n = c.t.rows();
  const HostMatrix<T> t = scaled<T>(c.t, scale);
  INFO(c.kind << ", n " << n << ", times " << scale << (vectors ? ", vectors" : "")
              << (sizeof(T) == 4 ? ", single" : "") << (method == SpectrumMethod::dense ? ", dense" : ""));
  Graph g(runtime);
  SpectrumOptions options;
  options.vectors = vectors;
  options.method = method;
  const auto start = std::chrono::steady_clock::now();
  const Spectrum<T> s = toeplitz_spectrum<T>(g, {t.data(), static_cast<std::size_t>(n)}, options);
  const double seconds = test::seconds_since(start);
  ++worst.matrices;
  worst.seconds = std::max(worst.seconds, seconds);
  CHECK(seconds < 10);
  INFO("residual " << s.residual.error << " of " << s.residual.bound << ", error " << s.error.error << " of "
                   << s.error.bound << ", uncertain " << s.uncertain << ", dense " << s.dense << ", found "
                   << s.values.size());
  CHECK(s.good());
  CHECK(s.expected == n);
  if (!s.good()) {
    ++worst.refused;
    return;
  }
  const ToeplitzValuesError error =
      toeplitz_values_error(n, t.data(), s.values, 0, false, -infinity, infinity, s.resolution);
  INFO("error by LAPACK " << error.error);
  const double bound = s.error.bound + static_cast<double>(n) * 2.3e-16;
  CHECK(error.error <= bound);
  CHECK(error.miscounted == 0);
  worst.error = std::max(worst.error, error.error);
  worst.bound_used = std::max(worst.bound_used, error.error / bound);
  if (!vectors) return check_counts(g, t, toeplitz_dense_values(n, t.data()), s.resolution);
  const HostMatrix<T> x = s.vectors->to_host();
  const ToeplitzSpectrumError pairs = toeplitz_spectrum_error(n, t.data(), s.values, s.symmetry, x.data(),
                                                              toeplitz_norm_estimate(n, t.data(), s.values));
  INFO("residual " << pairs.residual << ", overlaps " << pairs.orthogonality << ", symmetry " << pairs.symmetry);
  CHECK(pairs.residual <= s.residual.bound);
  CHECK(pairs.orthogonality <= (sizeof(T) == 4 ? 1e-2 : 1e-9));
  CHECK(pairs.symmetry <= 100 * static_cast<double>(std::numeric_limits<T>::epsilon()));
}

/// all: each matrix at all scales, with and without vectors, in both precisions; some: some of these combinations;
/// values: values only in double precision.
enum class Ways : std::uint8_t { all, some, values };

void sweep(index_t matrices, const std::vector<double>& scales, Ways ways) {
  Runtime runtime({.gpus = 0});
  std::map<std::string, Worst> table;
  const Generator<double> random{Pattern::uniform, 0, 0, 2024};
  const auto [first, step] = part();
  for (index_t i = first; i < matrices; i += step) {
    const index_t kind = i % toeplitz_cases;
    const index_t n =
        i < toeplitz_cases ? 1 + (i * 37) % 41 : static_cast<index_t>(129.5 + 128.49 * random.uniform(i, 1));
    const ToeplitzCase c = toeplitz_case(kind, n, static_cast<std::uint64_t>(i));
    index_t way = 0;
    for (const double scale : scales)
      for (const bool vectors : {false, true})
        for (const bool single : {false, true}) {
          if (ways == Ways::some && way++ % 7 != i % 7) continue;
          if (ways == Ways::values && (vectors || single)) continue;
          if (single && (std::abs(std::log10(scale)) > 20 || c.kind == "1e-150 to 1e150")) continue;
          for (const SpectrumMethod method : {SpectrumMethod::lanczos, SpectrumMethod::dense})
            if (single)
              check_one<float>(runtime, c, scale, vectors, method, table[c.kind + ", single"]);
            else
              check_one<double>(runtime, c, scale, vectors, method, table[c.kind + ", double"]);
        }
  }
  if (matrices > 100)
    for (const auto& [kind, w] : table)
      std::printf("%-28s %4d runs, error %.1e, %.3f of its bound, longest %.2f s, %d not good\n", kind.c_str(),
                  w.matrices, w.error, w.bound_used, w.seconds, w.refused);
}

}  // namespace

TEST_CASE("every kind of matrix at some scale has a correct spectrum or is reported as wrong") {
  sweep(44, {1, 1e100, 1e-10}, Ways::some);
}

TEST_CASE("values of 300 matrices at five scales are correct", "[.sweep-values]") {
  sweep(300, {1, 1e10, 1e-10, 1e100, 1e-100}, Ways::values);
}

TEST_CASE("spectra of 300 matrices at five scales are correct", "[.sweep]") {
  sweep(300, {1, 1e10, 1e-10, 1e100, 1e-100}, Ways::all);
}
