#include "bench/errors/sem_error.hpp"

#include <tesela/codelets/least_squares/minimum_norm.hpp>
#include <tesela/codelets/libraries/blas.hpp>
#include <tesela/codelets/libraries/lapack.hpp>
#include <tesela/tiles/power_of_two.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>

namespace tesela {

using namespace kernels;
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

/// Data and residuals in units of powers of two, and what the instruments explain of both.
struct Projected {
  std::vector<int> units;
  std::vector<double> norms;  ///< of the variables
  HostMatrix<double> W, T;    ///< variables and residuals
  double condition = 1;
};

std::vector<std::size_t> with_numbers(const SimultaneousEquations& answer) {
  std::vector<std::size_t> which;
  for (std::size_t i = 0; i < answer.equations.size(); ++i)
    if (!answer.equations[i].coefficients.empty()) which.push_back(i);
  return which;
}

/// Columns in their units.
HostMatrix<double> scaled(const HostMatrix<double>& a, const std::vector<int>& units,
                          std::span<const index_t> columns) {
  HostMatrix<double> s(a.rows(), std::ssize(columns));
  for (index_t j = 0; j < s.cols() && a.rows() > 0; ++j) {
    const index_t c = columns[static_cast<std::size_t>(j)];
    std::copy_n(&a(0, c), a.rows(), &s(0, j));
    scale_by_power_of_two(std::span(&s(0, j), static_cast<std::size_t>(a.rows())), -units[static_cast<std::size_t>(c)]);
  }
  return s;
}

/// Calls f(first, some) for parts of `all`: a large model's data are there once, and no second time.
template <class F>
void for_some(const std::vector<index_t>& all, const F& f) {
  constexpr std::size_t some = 256;
  for (std::size_t first = 0; first < all.size(); first += some)
    f(static_cast<index_t>(first), std::span(all).subspan(first, std::min(some, all.size() - first)));
}

std::vector<index_t> numbers_to(index_t n) {
  std::vector<index_t> all(static_cast<std::size_t>(n));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

/// y_i - Z_i b_i of the data, and the variables' norms.
HostMatrix<double> residuals(const HostMatrix<double>& data, const SimultaneousModel& model,
                             const SimultaneousEquations& answer, const std::vector<std::size_t>& which, Projected& p) {
  const index_t D = data.rows();
  std::vector<index_t> dependent;
  for (const std::size_t k : which) dependent.push_back(model.equations[k].dependent);
  HostMatrix<double> E = scaled(data, p.units, dependent);
  for_some(numbers_to(data.cols()), [&](index_t first, std::span<const index_t> columns) {
    const HostMatrix<double> A = scaled(data, p.units, columns);
    const std::vector<double> norms = column_norms(A);
    p.norms.insert(p.norms.end(), norms.begin(), norms.end());
    for (index_t i = 0; i < E.cols(); ++i) {
      const std::size_t k = which[static_cast<std::size_t>(i)];
      const Equation& e = model.equations[k];
      for (std::size_t q = 0; q < e.regressors.size(); ++q) {
        const index_t c = e.regressors[q], j = c - first;
        if (j < 0 || j >= A.cols()) continue;
        const double b =
            std::ldexp(answer.equations[k].coefficients[q],
                       p.units[static_cast<std::size_t>(c)] - p.units[static_cast<std::size_t>(e.dependent)]);
        for (index_t t = 0; t < D; ++t) E(t, i) -= b * A(t, j);
      }
    }
  });
  return E;
}

Projected project(const HostMatrix<double>& data, const ModelTriangle& triangle, const SimultaneousModel& model,
                  bool instrumental, const SimultaneousEquations& answer, const std::vector<std::size_t>& which) {
  const index_t D = data.rows(), n = data.cols(), N = static_cast<index_t>(which.size());
  Projected p;
  for (index_t c = 0; c < n; ++c) p.units.push_back(largest_exponent(D, &data(0, c)));
  HostMatrix<double> E = residuals(data, model, answer, which, p);
  if (!instrumental) {
    p.W = scaled(data, p.units, numbers_to(n));
    p.T = std::move(E);
    return p;
  }
  std::vector<index_t> kept;
  for (index_t c = 0; c < model.instruments; ++c)
    if (std::find(answer.dropped_instruments.begin(), answer.dropped_instruments.end(), c) ==
        answer.dropped_instruments.end())
      kept.push_back(c);
  const index_t k = static_cast<index_t>(kept.size());
  HostMatrix<double> R = scaled(triangle.R, p.units, numbers_to(n)), R1 = scaled(triangle.R, p.units, kept);
  if (k < model.instruments && k > 0) {
    std::vector<double> tau(static_cast<std::size_t>(k));
    lapack::geqrf(n, k, R1.data(), n, tau.data());
    lapack::ormqr(Op::transpose, n, n, k, R1.data(), n, tau.data(), R.data(), n);
  }
  HostMatrix<double> T = HostMatrix<double>::zeros(k, N), top = HostMatrix<double>::zeros(k, k);
  for (index_t j = 0; j < k; ++j) std::copy_n(&R1(0, j), j + 1, &top(0, j));
  p.W = HostMatrix<double>(k, n);
  for (index_t c = 0; c < n && k > 0; ++c) std::copy_n(&R(0, c), k, &p.W(0, c));
  if (k > 0 && N > 0) {
    for_some(kept, [&](index_t first, std::span<const index_t> columns) {
      const HostMatrix<double> X = scaled(data, p.units, columns);
      blas::gemm(Op::transpose, Op::none, X.cols(), N, D, 1.0, X.data(), X.ld(), E.data(), E.ld(), 0.0, &T(first, 0),
                 k);
    });
    blas::trsm(Op::transpose, k, N, top.data(), k, T.data(), k);
    p.condition = triangle_condition(top, true);
  }
  p.T = std::move(T);
  return p;
}

/// The largest |z^T t| / (||z|| size) of the equation's regressors.
double gradient(const Projected& p, const Equation& e, const std::vector<double>& t, double size) {
  double most = 0;
  for (const index_t c : e.regressors) {
    double sum = 0, norm = p.W.rows() > 0 ? euclidean_norm(p.W.rows(), &p.W(0, c)) : 0;
    for (index_t k = 0; k < p.W.rows(); ++k) sum += p.W(k, c) * t[static_cast<std::size_t>(k)];
    if (sum != 0) most = std::max(most, std::abs(sum) / norm / size);
  }
  return most;
}

}  // namespace

SemError sem_error(const HostMatrix<double>& data, const ModelTriangle& triangle, const SimultaneousModel& model,
                   SemMethod method, const SimultaneousEquations& answer) {
  const blas::Threads threads(blas::all_cores());
  const bool instrumental = method == SemMethod::two_stage || method == SemMethod::three_stage;
  const bool by_itself = method == SemMethod::two_stage || method == SemMethod::ols;
  SemError error{std::vector<double>(answer.equations.size(), nan), nan, 0};
  const std::vector<std::size_t> which = with_numbers(answer);
  if (which.empty()) return error;
  const Projected p = project(data, triangle, model, instrumental, answer, which);
  error.bound = 10 * std::sqrt(static_cast<double>(std::max(data.rows(), data.cols()))) *
                std::numeric_limits<double>::epsilon() * p.condition;
  const auto own = [&](std::size_t i) { return instrumental && !model.equations[i].instruments.empty(); };
  std::vector<double> sizes;
  for (const std::size_t i : which) {
    const Equation& e = model.equations[i];
    double size = p.norms[static_cast<std::size_t>(e.dependent)];
    for (std::size_t q = 0; q < e.regressors.size(); ++q)
      size +=
          p.norms[static_cast<std::size_t>(e.regressors[q])] *
          std::abs(std::ldexp(answer.equations[i].coefficients[q], p.units[static_cast<std::size_t>(e.regressors[q])] -
                                                                       p.units[static_cast<std::size_t>(e.dependent)]));
    sizes.push_back(size);
  }
  const index_t rows = p.T.rows(), N = static_cast<index_t>(which.size());
  const auto column = [&](index_t j) {
    return rows > 0 ? std::vector<double>(&p.T(0, j), &p.T(0, j) + rows) : std::vector<double>();
  };
  if (by_itself) {
    for (index_t j = 0; j < N; ++j) {
      const auto k = static_cast<std::size_t>(j);
      if (!own(which[k]))
        error.normal_residuals[which[k]] = gradient(p, model.equations[which[k]], column(j), sizes[k]);
    }
    return error;
  }
  if (std::any_of(which.begin(), which.end(), own)) return error;
  HostMatrix<double> S(N, N), inverse = HostMatrix<double>::zeros(N, N);
  for (index_t i = 0; i < N; ++i)
    for (index_t j = 0; j < N; ++j) {
      const std::size_t a = which[static_cast<std::size_t>(i)], b = which[static_cast<std::size_t>(j)];
      S(i, j) = std::ldexp(answer.weighting_covariance(static_cast<index_t>(a), static_cast<index_t>(b)),
                           -p.units[static_cast<std::size_t>(model.equations[a].dependent)] -
                               p.units[static_cast<std::size_t>(model.equations[b].dependent)]);
      inverse(i, i) = 1;
    }
  if (lapack::posv(N, N, S.data(), N, inverse.data(), N) != 0) return error;
  error.system_residual = 0;
  for (index_t i = 0; i < N; ++i) {
    std::vector<double> t(static_cast<std::size_t>(rows), 0.0);
    double size = 0;
    for (index_t j = 0; j < N; ++j) {
      for (index_t k = 0; k < rows; ++k) t[static_cast<std::size_t>(k)] += inverse(i, j) * p.T(k, j);
      size += std::abs(inverse(i, j)) * sizes[static_cast<std::size_t>(j)];
    }
    error.system_residual =
        std::max(error.system_residual, gradient(p, model.equations[which[static_cast<std::size_t>(i)]], t, size));
  }
  return error;
}

}  // namespace tesela
