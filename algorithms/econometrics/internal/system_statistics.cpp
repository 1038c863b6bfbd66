#include <tesela/algorithms/econometrics/internal/system_statistics.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tesela::detail {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Copies the upper triangle to the lower one, a few columns at a time.
void mirror_upper(HostMatrix<double>& S) {
  constexpr index_t some = 32;
  for (index_t first = 0; first < S.cols(); first += some)
    for (index_t j = 0; j < S.cols(); ++j)
      for (index_t i = first; i < std::min({first + some, j, S.cols()}); ++i) S(j, i) = S(i, j);
}

}  // namespace

HostMatrix<double> covariance_of(const Variables& v, const System& system, const HostMatrix<double>& products,
                                 std::size_t equations) {
  HostMatrix<double> S(static_cast<index_t>(equations), static_cast<index_t>(equations));
  std::fill_n(S.data(), S.size(), nan);
  std::vector<int> units;
  std::vector<double> factors;
  bool tame = true;
  for (std::size_t i = 0; i < system.which.size(); ++i) {
    units.push_back(v.exponents[static_cast<std::size_t>(system.in_model[i]->dependent)]);
    factors.push_back(std::ldexp(1 / system.divisors[i], units[i]));
    tame = tame && std::abs(units[i]) < 200;
  }
  for (std::size_t j = 0; j < system.which.size(); ++j) {
    const double* const column = &products(0, static_cast<index_t>(j));
    double* const to = &S(0, static_cast<index_t>(system.which[j]));
    for (std::size_t i = 0; i <= j; ++i)
      to[system.which[i]] = tame ? column[i] * factors[i] * factors[j]
                                 : std::ldexp(column[i] / system.divisors[i] / system.divisors[j], units[i] + units[j]);
  }
  mirror_upper(S);
  return S;
}

HostMatrix<double> correlation_of(const System& system, const HostMatrix<double>& products, std::size_t equations) {
  HostMatrix<double> C(static_cast<index_t>(equations), static_cast<index_t>(equations));
  std::fill_n(C.data(), C.size(), nan);
  std::vector<double> norms;
  for (index_t i = 0; i < products.cols(); ++i) norms.push_back(std::sqrt(products(i, i)));
  for (std::size_t j = 0; j < norms.size(); ++j) {
    double* const to = &C(0, static_cast<index_t>(system.which[j]));
    for (std::size_t i = 0; i <= j; ++i)
      to[system.which[i]] = products(static_cast<index_t>(i), static_cast<index_t>(j)) / norms[i] / norms[j];
  }
  mirror_upper(C);
  return C;
}

HostMatrix<double> products_of(Graph& g, const HostMatrix<double>& A) {
  return product(g, Op::transpose, Op::none, A, A);
}

double weighted_sum(const Weights& w, const HostMatrix<double>& products) {
  double sum = 0;
  for (index_t j = 0; j < products.cols(); ++j) {
    double column = 0;
    for (index_t i = 0; i < products.rows(); ++i)
      column += w.inverse(i, j) * (products(i, j) / w.sigmas[static_cast<std::size_t>(i)]);
    sum += column / w.sigmas[static_cast<std::size_t>(j)];
  }
  return sum;
}

double mcelroy(Graph& g, const Variables& v, const SimultaneousModel& model, const System& system,
               const HostMatrix<double>& E, const HostMatrix<double>& products) {
  const Weights w = weigh(g, E, products, system.divisors);
  if (w.inverse.cols() == 0) return nan;
  auto Y = HostMatrix<double>::zeros(v.A.rows(), E.cols());
  const index_t m = Y.rows(), c = model.constant;
  const double square = c < 0 ? 1 : dot(v.A, c, v.A, c, m);
  for (index_t i = 0; i < E.cols(); ++i) {
    const auto k = static_cast<std::size_t>(i);
    const index_t y = system.in_model[k]->dependent;
    const bool centred = system.picked[k].constant >= 0;
    const double along = centred ? dot(v.A, c, v.A, y, m) / square : 0;
    for (index_t t = 0; t < m; ++t) Y(t, i) = v.A(t, y) - (centred ? along * v.A(t, c) : 0);
    if (!(norm(m, &Y(0, i)) > rounding_of(system.picked[k], system.scaled[k].data())))
      std::fill_n(&Y(0, i), m, 0.0);  // a constant
  }
  const double all = weighted_sum(w, products_of(g, Y));
  return all > 0 ? 1 - weighted_sum(w, products) / all : nan;
}

}  // namespace tesela::detail
