#include "tests/support/shared_runtime.hpp"
#include "tools/checks/toeplitz_spectrum_error.hpp"
#include <tesela/algorithms/toeplitz/internal/toeplitz_certificate.hpp>
#include <tesela/algorithms/toeplitz/toeplitz_matrices.hpp>
#include <tesela/algorithms/toeplitz/toeplitz_spectrum.hpp>

// Spectra at every scale and at the ends of ranges, and the verdict on them.

using namespace tesela;

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

template <class T>
std::span<const T> column(const HostMatrix<T>& t) {
  return {t.data(), static_cast<std::size_t>(t.rows())};
}

template <class T>
HostMatrix<T> times_two_to(const HostMatrix<T>& t, int k) {
  HostMatrix<T> s(t.rows(), 1);
  for (index_t i = 0; i < t.rows(); ++i) s(i, 0) = std::ldexp(t(i, 0), k);
  return s;
}

template <class T>
HostMatrix<T> of(const std::vector<T>& t) {
  HostMatrix<T> s(static_cast<index_t>(t.size()), 1);
  std::copy(t.begin(), t.end(), s.data());
  return s;
}

std::vector<double> back(std::vector<double> v, int k) {
  for (double& x : v) x = std::ldexp(x, -k);
  return v;
}

template <class T>
Spectrum<T> spectrum(Runtime& runtime, const HostMatrix<T>& t, const SpectrumOptions& options = {}) {
  Graph g(runtime);
  return toeplitz_spectrum<T>(g, column(t), options);
}

template <class T>
std::vector<T> elements(const Spectrum<T>& s) {
  std::vector<T> x(static_cast<std::size_t>(s.vectors->m() * s.vectors->n()));
  s.vectors->copy_to(x.data(), s.vectors->m());
  return x;
}

HostMatrix<double> periodic(index_t n) {  // t = 1, 0, 1, 0, ...: eigenvalue n / 2 twice, and zeros
  HostMatrix<double> t(n, 1);
  for (index_t k = 0; k < n; ++k) t(k, 0) = k % 2 == 0 ? 1 : 0;
  return t;
}

HostMatrix<double> ones(index_t n) {
  HostMatrix<double> t(n, 1);
  for (index_t k = 0; k < n; ++k) t(k, 0) = 1;
  return t;
}

}  // namespace

CORES_TEMPLATE_TEST_CASE("a power of two scales counts, slices and spectra exactly", "", float, double) {
  using T = TestType;
  const int far = sizeof(T) == 4 ? 100 : 900;
  const HostMatrix<T> t = toeplitz_column<T>({ToeplitzKind::random, 0, 5}, 53);
  SpectrumOptions options;
  options.per_interval = 12;
  SpectrumOptions with_vectors = options, part = options;
  with_vectors.vectors = true;
  part.low = -1.25, part.high = 2;
  SpectrumOptions halves, halves_with_vectors;
  halves.method = halves_with_vectors.method = SpectrumMethod::dense;
  halves_with_vectors.vectors = true;
  const Spectrum<T> dense = spectrum(runtime, t, halves), dense_vectors = spectrum(runtime, t, halves_with_vectors);
  REQUIRE((dense.good() && dense.dense && dense_vectors.good()));
  const std::vector<double> shifts{-1e3, -1.5, 0, 0.75, 1e9};
  const auto count = [&](const HostMatrix<T>& matrix, int k) {
    Graph g(runtime);
    return toeplitz_count<T>(g, SineToeplitz<T>(g, column(matrix)), back(shifts, -k));
  };
  const auto slice = [&](const HostMatrix<T>& matrix, int k) {
    Graph g(runtime);
    return toeplitz_slice<T>(g, SineToeplitz<T>(g, column(matrix)), 5, std::ldexp(-1.25, k), infinity);
  };
  const Spectrum<T> all = spectrum(runtime, t, options), vectors = spectrum(runtime, t, with_vectors),
                    some = spectrum(runtime, t, part);
  REQUIRE((all.good() && vectors.good() && some.good()));
  REQUIRE(all.values.size() == 53);
  const auto counted = count(t, 0);
  const auto sliced = slice(t, 0);
  for (const int k : {-far, -far / 2, -1, 1, 33, far}) {
    INFO("times 2^" << k);
    const HostMatrix<T> scaled = times_two_to(t, k);
    const Spectrum<T> s = spectrum(runtime, scaled, options), v = spectrum(runtime, scaled, with_vectors);
    CHECK(s.good());
    CHECK(back(s.values, k) == all.values);
    CHECK(back(s.residuals, k) == all.residuals);
    CHECK(s.residual.error == all.residual.error);
    CHECK(back(v.values, k) == vectors.values);
    CHECK(elements(v) == elements(vectors));
    const Spectrum<T> d = spectrum(runtime, scaled, halves), dv = spectrum(runtime, scaled, halves_with_vectors);
    CHECK(back(d.values, k) == dense.values);
    CHECK(back(d.residuals, k) == dense.residuals);
    CHECK(d.error.error == dense.error.error);
    CHECK(back(dv.values, k) == dense_vectors.values);
    CHECK(elements(dv) == elements(dense_vectors));
    SpectrumOptions inside = part;
    inside.low = std::ldexp(part.low, k), inside.high = std::ldexp(part.high, k);
    CHECK(back(spectrum(runtime, scaled, inside).values, k) == some.values);
    const auto there = count(scaled, k);
    for (std::size_t i = 0; i < there.size(); ++i) {
      CHECK(there[i].below == counted[i].below);
      CHECK(std::ldexp(there[i].shift, -k) == counted[i].shift);
    }
    const auto slices = slice(scaled, k);
    REQUIRE(slices.size() == sliced.size());
    for (std::size_t i = 0; i < slices.size(); ++i) {
      CHECK(std::ldexp(slices[i].low, -k) == sliced[i].low);
      CHECK(std::ldexp(slices[i].high, -k) == sliced[i].high);
      CHECK(slices[i].count == sliced[i].count);
    }
  }
}

CORES_TEST_CASE("any factor of t keeps the accuracy") {
  const HostMatrix<double> t = toeplitz_column<double>({ToeplitzKind::random, 0, 5}, 40);
  for (const double by : {1e10, 1e15, 1e-10, 1e20, 1e-300, 1e306})
    for (const SpectrumMethod method : {SpectrumMethod::lanczos, SpectrumMethod::dense})
      for (const bool vectors : {false, true}) {
        INFO("times " << by << ", method " << static_cast<int>(method));
        HostMatrix<double> scaled(40, 1);
        for (index_t k = 0; k < 40; ++k) scaled(k, 0) = by * t(k, 0);
        SpectrumOptions options;
        options.method = method;
        options.vectors = vectors;
        const Spectrum<double> s = spectrum(runtime, scaled, options);
        CHECK(s.good());
        REQUIRE(s.values.size() == 40);
        CHECK(toeplitz_values_error(40, scaled.data(), s.values, 0, false, -infinity, infinity, s.resolution).error <
              1e-14);
        if (!vectors) continue;
        CHECK(toeplitz_spectrum_error(40, scaled.data(), s.values, s.symmetry, elements(s).data(),
                                      toeplitz_norm_estimate(40, scaled.data(), s.values))
                  .residual < 1e-12);
      }
}

CORES_TEST_CASE("a spectrum with eigenvalues beyond the largest number is not good") {
  const Spectrum<double> s = spectrum(runtime, of<double>(std::vector<double>(10, 1e308)));  // 1e309 and zeros
  REQUIRE(s.values.size() == 10);
  CHECK_FALSE(s.good());
  CHECK(std::isinf(s.values.back()));
  CHECK(spectrum(runtime, of<double>(std::vector<double>(10, 1e307))).good());  // 1e308
}

CORES_TEST_CASE("zero matrices and tiny numbers have correct spectra") {
  for (const index_t n : {1, 2, 3, 10, 64, 65, 257})
    for (const bool vectors : {false, true}) {
      INFO("zeros, n " << n);
      SpectrumOptions options;
      options.vectors = vectors;
      const Spectrum<double> s = spectrum(runtime, HostMatrix<double>::zeros(n, 1), options);
      CHECK(s.good());
      CHECK(s.expected == n);
      CHECK(s.values == std::vector<double>(static_cast<std::size_t>(n), 0.0));
    }
  const double tiny = std::numeric_limits<double>::denorm_min();
  CHECK(spectrum(runtime, of<double>({tiny})).values == std::vector{tiny});
  CHECK(spectrum(runtime, of<double>({-tiny})).values == std::vector{-tiny});
  CHECK(spectrum(runtime, of<double>({tiny, tiny})).values == std::vector{0.0, 2 * tiny});
  CHECK(spectrum(runtime, of<float>({std::numeric_limits<float>::denorm_min()})).values ==
        std::vector{static_cast<double>(std::numeric_limits<float>::denorm_min())});
  const Spectrum<double> s = spectrum(runtime, of<double>({0, 1e-200, 0, 0}));
  REQUIRE(s.values.size() == 4);
  const double large = 1e-200 * (1 + std::sqrt(5)) / 2, small = 1e-200 * (std::sqrt(5) - 1) / 2;
  const double right[] = {-large, -small, small, large};
  for (std::size_t i = 0; i < 4; ++i) CHECK(std::abs(s.values[i] - right[i]) < 1e-214);
  Graph g(runtime);
  const SineToeplitz<double> zero(g, column(HostMatrix<double>::zeros(7, 1)));
  const double shifts[] = {-1e-300, 0, 1e-300};
  const auto counted = toeplitz_count<double>(g, zero, shifts);
  CHECK((counted[0].total() == 0 && counted[1].total() == 0 && counted[2].total() == 7));
  CHECK(toeplitz_slice<double>(g, zero, 3, 0, infinity).front().total() == 7);
  CHECK(toeplitz_slice<double>(g, zero, 3, -1, 0).empty());
}

CORES_TEST_CASE("a slice contains its eigenvalues if all are equal, subnormal, or near the largest number") {
  constexpr double tiny = std::numeric_limits<double>::denorm_min(), most = std::numeric_limits<double>::max();
  const auto check = [&](const HostMatrix<double>& t, std::vector<double> values, index_t per_interval) {
    Graph g(runtime);
    const auto slices =
        toeplitz_slice<double>(g, SineToeplitz<double>(g, column(t)), per_interval, -infinity, infinity);
    auto value = values.begin();
    for (const SpectrumInterval& i : slices) {
      CAPTURE(values.size(), values.front(), values.back(), per_interval, i.low, i.high);
      CHECK(i.low < i.high);
      CHECK(i.cluster == (i.total() > per_interval));
      REQUIRE(values.end() - value >= i.total());
      for (index_t k = 0; k < i.total(); ++k, ++value) CHECK((i.low <= *value && *value < i.high));
    }
    CHECK(value == values.end());
    for (std::size_t i = 1; i < slices.size(); ++i) CHECK(slices[i - 1].high <= slices[i].low);
  };
  for (const index_t per_interval : {1, 7}) {
    for (const std::size_t n : {std::size_t{1}, std::size_t{5}})
      for (const double value : {0.0, 1.0, -3.0, tiny, -tiny, 1e-320, 0.9 * most, -0.9 * most}) {
        HostMatrix<double> t = HostMatrix<double>::zeros(static_cast<index_t>(n), 1);
        t(0, 0) = value;
        check(t, std::vector<double>(n, value), per_interval);
      }
    check(of<double>({tiny, tiny}), {0, 2 * tiny}, per_interval);
    check(of<double>({0.5 * most, 0.49 * most}), {0.01 * most, 0.99 * most}, per_interval);
    check(of<double>({-0.5 * most, 0.49 * most}), {-0.99 * most, -0.01 * most}, per_interval);
  }
  Graph g(runtime);
  const auto beyond =
      toeplitz_slice<double>(g, SineToeplitz<double>(g, column(of<double>({most, most}))), 1, -infinity, infinity);
  REQUIRE(beyond.size() == 2);
  CHECK(beyond.back().high == infinity);
}

CORES_TEST_CASE("a range includes its lower end and excludes its upper end for multiple eigenvalues") {
  const auto found = [&](const HostMatrix<double>& t, double low, double high, bool vectors = false) {
    SpectrumOptions options;
    options.low = low, options.high = high, options.vectors = vectors;
    const Spectrum<double> s = spectrum(runtime, t, options);
    INFO("[" << low << ", " << high << ")");
    CHECK(s.good());
    CHECK(static_cast<index_t>(s.values.size()) == s.expected);
    const auto error = toeplitz_values_error(t.rows(), t.data(), s.values, s.first, false, low, high, 2 * s.resolution);
    CHECK(error.error < 1e-13);
    CHECK(error.miscounted == 0);
    return s.values.size();
  };
  for (const bool vectors : {false, true}) {
    CHECK(found(ones(40), 0, infinity, vectors) == 40);
    CHECK(found(ones(40), -infinity, 0, vectors) == 0);
    CHECK(found(ones(40), 0, 40, vectors) == 39);
    CHECK(found(ones(40), 40, infinity, vectors) == 1);
    CHECK(found(periodic(40), 0, 1, vectors) == 38);
    CHECK(found(periodic(40), 20, 21, vectors) == 2);
    CHECK(found(periodic(40), 1, 20, vectors) == 0);
  }
  const HostMatrix<double> t = toeplitz_column<double>({ToeplitzKind::second_difference, 0, 1}, 50);
  for (const double far : {1e15, 1e308, infinity}) {
    CHECK(found(t, 0, far) == 50);
    CHECK(found(t, -far, far) == 50);
    CHECK(found(t, -far, 1) == 16);  // the next eigenvalue is 1
    CHECK(found(t, 1e3, far) == 0);
    CHECK(found(t, -far, -1e3) == 0);
  }
  CHECK(found(t, 1, 1 + 1e-15) == 0);  // eigenvalue 17, 2 - 2 cos(pi / 3) = 1, is within rounding of both ends
  const HostMatrix<double> middle = toeplitz_column<double>({ToeplitzKind::second_difference, 0, 1}, 101);
  CHECK(found(middle, 2, 4) == 51);
  CHECK(found(middle, 0, 2) == 50);
  CHECK(found(middle, 2, 2 + 1e-9) == 1);
}

CORES_TEST_CASE("a count at the only nonzero eigenvalue of a rank-one matrix excludes it") {
  Graph g(runtime);
  for (const index_t n : {5, 64, 97, 200})
    for (const double sign : {1.0, -1.0})
      for (const double factor : {1e-100, 1.0, 1e10}) {
        HostMatrix<double> t(n, 1);
        for (index_t k = 0; k < n; ++k) t(k, 0) = k % 2 == 0 ? factor : sign * factor;
        const double largest = static_cast<double>(n) * factor;
        const double shifts[] = {0, largest * (1 - 1e-9), largest, largest * (1 + 1e-9)};
        const SineToeplitz<double> A(g, column(t));
        const auto counted = toeplitz_count<double>(g, A, shifts);
        INFO("n = " << n << ", t(1) = " << t(1, 0));
        const std::vector<index_t> expected{0, n - 1, n - 1, n};
        for (std::size_t i = 0; i < 4; ++i) CHECK(counted[i].total() == expected[i]);
      }
}

CORES_TEST_CASE("the smallest and largest of multiple eigenvalues are found") {
  for (const index_t k : {1, 2, 5, 39, 40})
    for (const bool smallest : {true, false})
      for (const bool vectors : {false, true})
        for (const HostMatrix<double>& t : {ones(40), periodic(40), HostMatrix<double>::zeros(40, 1)}) {
          INFO(k << (smallest ? " smallest" : " largest"));
          SpectrumOptions options;
          options.vectors = vectors;
          (smallest ? options.smallest : options.largest) = k;
          const Spectrum<double> s = spectrum(runtime, t, options);
          CHECK(s.good());
          REQUIRE(static_cast<index_t>(s.values.size()) == k);
          CHECK(s.first == (smallest ? 0 : 40 - k));
          CHECK(toeplitz_values_error(40, t.data(), s.values, s.first, false, -infinity, infinity, 1.0).error < 1e-13);
        }
}

CORES_TEST_CASE("a missing, duplicated or extra claim is found") {
  Graph g(runtime);
  const index_t n = 60;
  const HostMatrix<double> t = toeplitz_column<double>({ToeplitzKind::random, 0, 3}, n);
  const SineToeplitz<double> A(g, column(t));
  SpectrumOptions options;
  const Spectrum<double> s = toeplitz_spectrum<double>(g, column(t), options);
  REQUIRE(s.good());
  std::vector<detail::Claim> claims;
  for (std::size_t i = 0; i < s.values.size(); ++i)
    claims.push_back({std::ldexp(s.values[i], -A.exponent()), 1e-10, s.symmetry[i] > 0 ? 0U : 1U});
  const auto uncertain = [&](std::vector<detail::Claim> c, const detail::CountedRange& range = {}) {
    return detail::certify(g, A, range, c, nullptr);
  };
  CHECK(uncertain(claims) == 0);
  for (const std::size_t i : {0UL, 30UL, 59UL}) {
    auto missing = claims, twice = claims, other_side = claims;
    missing.erase(missing.begin() + static_cast<std::ptrdiff_t>(i));
    CHECK(uncertain(missing) == 1);
    // It replaces another claim of its part.
    std::size_t j = i == 30 ? 0 : 30;
    while (claims[j].part != claims[i].part) ++j;
    twice[i].value = twice[j].value + 1e-11;
    CHECK(uncertain(twice) == 2);
    twice.push_back(claims[i]);
    CHECK(uncertain(twice) == 3);
    other_side[i].part = 1 - other_side[i].part;
    CHECK(uncertain(other_side) == 2);
  }
  claims[7].radius = std::nan("");
  CHECK(uncertain(claims) > 0);
}

CORES_TEST_CASE("inaccurate claims are refined by counts") {
  Graph g(runtime);
  const index_t n = 60;
  const HostMatrix<double> t = toeplitz_column<double>({ToeplitzKind::random, 0, 3}, n);
  const SineToeplitz<double> A(g, column(t));
  const Spectrum<double> s = toeplitz_spectrum<double>(g, column(t), {});
  std::vector<detail::Claim> claims;
  for (std::size_t i = 0; i < s.values.size(); ++i)
    claims.push_back({std::ldexp(s.values[i], -A.exponent()) + 1e-8, 2e-3, s.symmetry[i] > 0 ? 0U : 1U});
  REQUIRE(detail::certify(g, A, {}, claims, nullptr) == 0);
  std::vector<detail::Claim> known = claims;
  index_t counts = 0;
  detail::pin(g, A, known, infinity, 1e-3, &counts);
  CHECK(counts == 0);
  for (std::size_t i = 0; i < known.size(); ++i) {
    CHECK(known[i].value == claims[i].value);
    CHECK(known[i].radius == claims[i].error);
    CHECK(known[i].radius <= 2e-3);
  }
  detail::pin(g, A, claims, 1e-9, infinity, &counts);
  CHECK(counts > 0);
  for (const detail::Claim& c : claims) CHECK(c.error < 1e-9);
  detail::pin(g, A, claims, 0, infinity, nullptr);
  std::vector<double> values;
  for (const detail::Claim& c : claims) {
    CHECK(c.error < 1e-12);
    values.push_back(std::ldexp(c.value, A.exponent()));
  }
  std::sort(values.begin(), values.end());
  CHECK(toeplitz_values_error(n, t.data(), values, 0, false, -infinity, infinity, s.resolution).error < 1e-14);
}

CORES_TEST_CASE("runs reported as complete need no relaunch") {
  for (const index_t n : {301, 400}) {
    const HostMatrix<double> t = toeplitz_column<double>({ToeplitzKind::random, 0, 1}, n);
    SpectrumOptions options;
    options.per_interval = 20;
    options.dk = 1;
    const Spectrum<double> s = spectrum(runtime, t, options);
    CHECK(s.good());
    // An incomplete run would be relaunched or leave a residual above the tolerance of 1e-10.
    INFO(s.relaunches << " of " << s.intervals);
    CHECK(s.relaunches <= 1);
    CHECK(s.residual.error < 4e-10);
  }
}

CORES_TEST_CASE("a narrow range contains its own eigenvalues and none of its neighbours") {
  for (const double decay : {1e-8, 1e-10})
    for (const index_t n : {5, 8, 15, 31}) {
      HostMatrix<double> t(n, 1);
      for (index_t k = 0; k < n; ++k) t(k, 0) = std::pow(1 - decay, static_cast<double>(k));
      const std::vector<double> all = toeplitz_dense_values(n, t.data());
      const double rounding = 1e-15 * static_cast<double>(n) * all.back();
      for (std::size_t i = 1; i + 3 < all.size() && i < 9; ++i) {
        SpectrumOptions options;
        options.low = (all[i - 1] + all[i]) / 2;
        options.high = (all[i + 1] + all[i + 2]) / 2;
        if (std::min(options.low - all[i - 1], options.high - all[i + 1]) < 100 * rounding) continue;
        Graph g(runtime);
        const auto s =
            toeplitz_spectrum<double>(g, std::span<const double>(t.data(), static_cast<std::size_t>(n)), options);
        CAPTURE(decay, n, i, options.low, options.high, s.values);
        REQUIRE(s.good());
        REQUIRE(s.values.size() == 2);
        CHECK(std::abs(s.values[0] - all[i]) <= 10 * rounding);
        CHECK(std::abs(s.values[1] - all[i + 1]) <= 10 * rounding);
      }
    }
}

CORES_TEST_CASE("a range whose end moved past eigenvalues is not a good spectrum") {
  Graph g(runtime);
  constexpr index_t n = 600;
  // Tridiagonal; at 1e12 the whole spectrum is 735 resolutions wide, at 1e4 far more.
  for (const double diagonal : {1e12, 1e4}) {
    std::vector<double> t(n, 0.0);
    t[0] = diagonal, t[1] = -1;
    const auto exact = [&](int k) { return diagonal - 2 * std::cos(std::numbers::pi * (k + 1) / (n + 1)); };
    for (const auto& [first, last] : {std::pair{100, 200}, {10, 300}, {0, 599}}) {
      SpectrumOptions options{.low = exact(first) - 1e-6, .high = exact(last) - 1e-6};
      options.method = SpectrumMethod::lanczos;
      const Spectrum<double> s = toeplitz_spectrum<double>(g, t, options);
      CAPTURE(diagonal, first, last, s.values.size(), s.moved.error);
      CHECK((static_cast<int>(s.values.size()) == last - first || !s.good()));
      if (diagonal < 1e5) CHECK(s.good());
    }
  }
}
