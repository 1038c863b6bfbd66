#include "tools/checks/sem_error.hpp"

#include "tools/checks/explained_part.hpp"
#include <tesela/algorithms/dense/gemm.hpp>
#include <tesela/algorithms/support/measured.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/host/minimum_norm.hpp>
#include <tesela/runtime/paused_workers.hpp>
#include <tesela/tiles/parallel_for.hpp>
#include <tesela/tiles/power_of_two.hpp>

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <span>

namespace tesela {

using namespace kernels;
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN(), infinity = std::numeric_limits<double>::infinity();

/// Variables in units of powers of two, and the part of them and of residuals that the instruments explain.
struct Projected {
  std::vector<int> units;
  std::vector<double> norms;    ///< norms of the variables
  HostMatrix<double> products;  ///< products of variables (at least the instruments) with residuals
  /// Variables in an orthogonal basis whose first T.rows() vectors span the instruments, and the residuals' components
  /// in it. For OLS and SUR `products` is used instead.
  HostMatrix<double> R, T;
  double condition = 1;
};

std::vector<std::size_t> with_numbers(const SimultaneousEquations& answer) {
  std::vector<std::size_t> which;
  for (std::size_t i = 0; i < answer.equations.size(); ++i)
    if (!answer.equations[i].coefficients.empty()) which.push_back(i);
  return which;
}

constexpr index_t elements_per_thread = 64;  // number of a triangle's columns that pays for a thread

/// Returns a triangle's columns in their units.
HostMatrix<double> scaled(const HostMatrix<double>& R, const std::vector<int>& units) {
  const index_t n = R.cols();
  HostMatrix<double> s(n, n);
  parallel_for(n, elements_per_thread, [&](index_t first, index_t end) {
    for (index_t c = first; c < end; ++c) {
      double* const below = std::copy_n(&R(0, c), c + 1, &s(0, c));
      std::fill(below, below + n - c - 1, 0.0);
      scale_by_power_of_two(std::span(below - c - 1, below), -units[static_cast<std::size_t>(c)]);
    }
  });
  return s;
}

std::vector<index_t> numbers_to(index_t n) {
  std::vector<index_t> all(static_cast<std::size_t>(n));
  std::iota(all.begin(), all.end(), 0);
  return all;
}

HostMatrix<double> columns_of(const HostMatrix<double>& a, std::span<const index_t> columns) {
  HostMatrix<double> some(a.rows(), std::ssize(columns));
  for (index_t j = 0; j < some.cols() && a.rows() > 0; ++j)
    std::copy_n(&a(0, columns[static_cast<std::size_t>(j)]), a.rows(), &some(0, j));
  return some;
}

/// Returns a coefficient for columns in their units.
double in_units(const Projected& p, const Equation& e, std::size_t q, double coefficient) {
  return std::ldexp(
      coefficient, p.units[static_cast<std::size_t>(e.regressors[q])] - p.units[static_cast<std::size_t>(e.dependent)]);
}

/// Returns y_i - Z_i b_i for some rows, in their units.
HostMatrix<double> residuals(const HostMatrix<double>& rows, const SimultaneousModel& model,
                             const SimultaneousEquations& answer, const std::vector<std::size_t>& which,
                             const Projected& p) {
  HostMatrix<double> E(rows.rows(), static_cast<index_t>(which.size()));
  parallel_for(E.cols(), [&](index_t i) {
    const std::size_t k = which[static_cast<std::size_t>(i)];
    const Equation& e = model.equations[k];
    std::copy_n(&rows(0, e.dependent), E.rows(), &E(0, i));
    for (std::size_t q = 0; q < e.regressors.size(); ++q) {
      const index_t c = e.regressors[q];
      const double b = in_units(p, e, q, answer.equations[k].coefficients[q]);
      for (index_t t = 0; t < E.rows(); ++t) E(t, i) -= b * rows(t, c);
    }
  });
  return E;
}

/// Returns the number of rows in about 16 MiB, but enough for all cores that compute or read them.
index_t rows_at_once(index_t n) { return std::max<index_t>((index_t{1} << 21) / std::max<index_t>(n, 1), 8192); }

/// T += A^T B for A's first T.rows() columns: on GPUs if there are some and it pays, otherwise by BLAS.
void add_products(Graph& g, const HostMatrix<double>& A, const HostMatrix<double>& B, HostMatrix<double>& T) {
  const index_t m = A.rows(), count = T.rows(), N = T.cols(), tile = 2048;
  if (m == 0 || T.size() == 0) return;
  if (g.runtime().gpus() == 0 || static_cast<double>(m) * static_cast<double>(T.size()) < 1e8) {
    const PausedWorkers paused;
    const blas::Threads threads(blas::all_cores());
    return blas::gemm(Op::transpose, Op::none, count, N, m, 1.0, A.data(), A.ld(), B.data(), B.ld(), 1.0, T.data(),
                      T.ld());
  }
  const auto map = [&](const HostMatrix<double>& a, index_t cols, TileShape shape, const char* name) {
    return TileMatrix<double>::map(g.runtime(), a.data(), a.rows(), cols, a.ld(), shape, name);
  };
  const auto a = map(A, count, {m, tile}, "X"), b = map(B, N, {m, N}, "E"), t = map(T, N, {tile, N}, "T");
  gemm(g, Op::transpose, Op::none, 1.0, a, b, 1.0, t, {.kernel = GemmKernel::cublas, .priority = on_gpu});
  g.wait();
  t.bring_home();
}

/// Makes one pass over the data: the variables' norms, and the products of the first `count` of them with the
/// residuals.
HostMatrix<double> products(Graph& g, const RowSource<double>& data, index_t count, const SimultaneousModel& model,
                            const SimultaneousEquations& answer, const std::vector<std::size_t>& which, Projected& p) {
  const index_t n = data.n, N = static_cast<index_t>(which.size()), some = std::min(rows_at_once(n), data.m);
  auto T = HostMatrix<double>::zeros(count, N);
  p.norms.assign(static_cast<std::size_t>(n), 0.0);
  HostMatrix<double> rows(some, n), E;
  std::optional<PinnedMemory> locked(std::in_place, g.runtime(), rows.data(),
                                     static_cast<std::size_t>(rows.size()) * sizeof(double));
  for (index_t first = 0; first < data.m; first += some) {
    if (data.m - first < some) locked.reset(), rows = HostMatrix<double>(data.m - first, n);
    {
      const PausedWorkers paused;
      data.read(first, {rows.data(), rows.rows(), n, rows.ld()});
      parallel_for(n, 16, [&](index_t c, index_t end) {
        for (; c < end; ++c) {
          const std::span<double> x(&rows(0, c), static_cast<std::size_t>(rows.rows()));
          scale_by_power_of_two(x, -p.units[static_cast<std::size_t>(c)]);
          double& norm = p.norms[static_cast<std::size_t>(c)];
          norm = std::hypot(norm, euclidean_norm(rows.rows(), x.data()));
        }
      });
      E = residuals(rows, model, answer, which, p);
    }
    add_products(g, rows, E, T);
  }
  return T;
}

/// Computes the part that the model's instruments explain.
void project(const SimultaneousModel& model, const SimultaneousEquations& answer, Projected& p) {
  const index_t n = p.R.cols(), N = p.products.cols();
  std::vector<index_t> kept;
  for (index_t c = 0; c < model.instruments; ++c)
    if (std::find(answer.dropped_instruments.begin(), answer.dropped_instruments.end(), c) ==
        answer.dropped_instruments.end())
      kept.push_back(c);
  const index_t k = static_cast<index_t>(kept.size());
  HostMatrix<double> R1;
  if (k < model.instruments && k > 0) {
    R1 = columns_of(p.R, kept);
    std::vector<double> tau(static_cast<std::size_t>(k));
    lapack::geqrf(n, k, R1.data(), n, tau.data());
    lapack::ormqr(Op::transpose, n, n, k, R1.data(), n, tau.data(), p.R.data(), n);
  }
  p.T = HostMatrix<double>(k, N);
  if (k == 0 || N == 0) return;
  HostMatrix<double>& top = k < model.instruments ? R1 : p.R;  // whose columns get norm 1, where they stand
  parallel_for(k, elements_per_thread, [&](index_t first, index_t end) {
    for (index_t j = first; j < end; ++j) {
      const double norm = euclidean_norm(j + 1, &top(0, j));
      for (index_t i = 0; i <= j; ++i) top(i, j) /= norm;
      for (index_t i = 0; i < N; ++i) p.T(j, i) = p.products(kept[static_cast<std::size_t>(j)], i) / norm;
    }
  });
  blas::trsm(Op::transpose, k, N, top.data(), n, p.T.data(), k);
  const double reciprocal = lapack::trcon(k, top.data(), n);
  p.condition = reciprocal > 0 ? 1 / reciprocal : infinity;
}

/// Returns |z^T t| / (||z|| size); infinity if that is NaN.
double relative(double sum, double norm, double size) {
  if (sum == 0) return 0;
  const double part = std::abs(sum) / norm / size;
  return std::isnan(part) ? infinity : part;
}

/// Returns the largest of these for columns of Z, in its first rows, and a vector.
double gradient(const HostMatrix<double>& Z, std::span<const index_t> columns, const HostMatrix<double>& t,
                double size) {
  double most = 0;
  if (t.rows() == 0) return most;
  for (const index_t c : columns) {
    const double* const z = &Z(0, c);
    const double sum = std::inner_product(z, z + t.rows(), t.data(), 0.0);
    most = std::max(most, relative(sum, euclidean_norm(t.rows(), z), size));
  }
  return most;
}

/// Returns, for each equation with coefficients, the explained part by its own instruments or by the model's.
std::vector<std::shared_ptr<const InstrumentProjection>> parts_of(const Projected& p, const SimultaneousModel& model,
                                                                  const std::vector<std::size_t>& which, index_t rows) {
  const double rcond = 10 * static_cast<double>(std::max(rows, p.R.cols())) * std::numeric_limits<double>::epsilon();
  std::vector<std::shared_ptr<const InstrumentProjection>> parts;
  std::shared_ptr<const InstrumentProjection> shared;
  for (const std::size_t i : which) {
    const std::vector<index_t>& own = model.equations[i].instruments;
    if (own.empty() && !shared)
      shared = std::make_shared<InstrumentProjection>(p.R, numbers_to(model.instruments), rcond);
    parts.push_back(own.empty() ? shared : std::make_shared<InstrumentProjection>(p.R, own, rcond));
  }
  return parts;
}

/// Returns the part of the fitted values Z_j b_j that each equation's instruments do not explain.
HostMatrix<double> unexplained(const Projected& p, const SimultaneousModel& model, const SimultaneousEquations& answer,
                               const std::vector<std::size_t>& which,
                               const std::vector<std::shared_ptr<const InstrumentProjection>>& parts) {
  HostMatrix<double> F(p.R.rows(), std::ssize(which));
  for (index_t j = 0; j < F.cols(); ++j) {
    const std::size_t i = which[static_cast<std::size_t>(j)];
    const Equation& e = model.equations[i];
    auto one = HostMatrix<double>::zeros(F.rows(), 1);
    for (std::size_t q = 0; q < e.regressors.size(); ++q) {
      const double b = in_units(p, e, q, answer.equations[i].coefficients[q]);
      for (index_t r = 0; r < one.rows(); ++r) one(r, 0) += b * p.R(r, e.regressors[q]);
    }
    one = parts[static_cast<std::size_t>(j)]->rest(std::move(one));
    std::copy_n(one.data(), one.rows(), &F(0, j));
  }
  return F;
}

/// Returns the sum of A's columns weighted by row i of the weights.
HostMatrix<double> weighted(const HostMatrix<double>& A, const HostMatrix<double>& weights, index_t i) {
  auto sum = HostMatrix<double>::zeros(A.rows(), 1);
  for (index_t j = 0; j < A.cols(); ++j)
    if (weights(i, j) != 0)  // NaN is kept
      for (index_t r = 0; r < A.rows(); ++r) sum(r, 0) += weights(i, j) * A(r, j);
  return sum;
}

/// Returns S^-1 of the covariance that weighted the third stage, in the variables' units; 0 x 0 if it is numerically
/// singular.
HostMatrix<double> weights_of(const Projected& p, const SimultaneousModel& model, const SimultaneousEquations& answer,
                              const std::vector<std::size_t>& which) {
  const index_t N = std::ssize(which);
  HostMatrix<double> S(N, N), inverse = HostMatrix<double>::zeros(N, N);
  std::vector<double> sigmas;  // the covariance may overflow in the data's units
  for (std::size_t i = 0; i < which.size(); ++i)
    sigmas.push_back(std::ldexp(answer.weighting_sigmas[i],
                                -p.units[static_cast<std::size_t>(model.equations[which[i]].dependent)]));
  for (index_t i = 0; i < N; ++i)
    for (index_t j = 0; j < N; ++j) {
      const auto a = static_cast<std::size_t>(i), b = static_cast<std::size_t>(j);
      S(i, j) = answer.weighting_correlation(static_cast<index_t>(which[a]), static_cast<index_t>(which[b])) *
                sigmas[a] * sigmas[b];
      inverse(i, i) = 1;
    }
  return lapack::posv(N, N, S.data(), N, inverse.data(), N) == 0 ? std::move(inverse) : HostMatrix<double>();
}

HostMatrix<double> identity(index_t n) {
  auto I = HostMatrix<double>::zeros(n, n);
  for (index_t i = 0; i < n; ++i) I(i, i) = 1;
  return I;
}

}  // namespace

SemError sem_error(Graph& g, const RowSource<double>& data, const ModelTriangle& triangle,
                   const SimultaneousModel& model, SemMethod method, const SimultaneousEquations& answer) {
  const bool instrumental = uses_instruments(method);
  const bool by_itself = !is_joint(method);
  SemError error{std::vector<double>(answer.equations.size(), nan), nan, 0};
  const std::vector<std::size_t> which = with_numbers(answer);
  if (which.empty()) return error;
  const bool own = instrumental && std::any_of(which.begin(), which.end(),
                                               [&](std::size_t i) { return !model.equations[i].instruments.empty(); });
  Projected p;
  p.units.resize(static_cast<std::size_t>(data.n));
  parallel_for(data.n, elements_per_thread, [&](index_t first, index_t end) {
    for (index_t c = first; c < end; ++c)
      p.units[static_cast<std::size_t>(c)] = largest_exponent(c + 1, &triangle.R(0, c));
  });
  p.products = products(g, data, instrumental && !own ? model.instruments : data.n, model, answer, which, p);
  const PausedWorkers paused;
  const blas::Threads threads(blas::all_cores());
  if (instrumental) p.R = scaled(triangle.R, p.units);
  if (instrumental && !own) project(model, answer, p);
  std::vector<std::shared_ptr<const InstrumentProjection>> parts;
  if (own) parts = parts_of(p, model, which, data.m);
  for (const auto& part : parts) p.condition = std::max(p.condition, part->condition());
  HostMatrix<double> rest;
  if (own && !by_itself) rest = unexplained(p, model, answer, which, parts);
  error.bound = rounding_bound<double>(std::max(data.m, data.n)) * p.condition;

  const index_t N = std::ssize(which);
  std::vector<double> sizes;
  for (const std::size_t i : which) {
    const Equation& e = model.equations[i];
    sizes.push_back(p.norms[static_cast<std::size_t>(e.dependent)]);
    for (std::size_t q = 0; q < e.regressors.size(); ++q)
      sizes.back() += p.norms[static_cast<std::size_t>(e.regressors[q])] *
                      std::abs(in_units(p, e, q, answer.equations[i].coefficients[q]));
  }
  const HostMatrix<double> weights = by_itself ? identity(N) : weights_of(p, model, answer, which);
  if (weights.cols() == 0) return error.system_residual = infinity, error;
  const auto residual = [&](index_t i) {
    const Equation& e = model.equations[which[static_cast<std::size_t>(i)]];
    double size = 0, most = 0;
    for (index_t j = 0; j < N; ++j) size += std::abs(weights(i, j)) * sizes[static_cast<std::size_t>(j)];
    if (own) {
      const InstrumentProjection& part = *parts[static_cast<std::size_t>(i)];
      HostMatrix<double> t = part.of_products(weighted(p.products, weights, i));
      const HostMatrix<double> more = by_itself ? HostMatrix<double>() : part.of(weighted(rest, weights, i));
      for (index_t r = 0; r < more.rows(); ++r) t(r, 0) += more(r, 0);
      most = gradient(part.of(columns_of(p.R, e.regressors)), numbers_to(std::ssize(e.regressors)), t, size);
    } else if (instrumental) {
      most = gradient(p.R, e.regressors, weighted(p.T, weights, i), size);
    } else {
      const HostMatrix<double> t = weighted(p.products, weights, i);
      for (const index_t c : e.regressors)
        most = std::max(most, relative(t(c, 0), p.norms[static_cast<std::size_t>(c)], size));
    }
    return most;
  };
  std::vector<double> found(which.size());
  // Equations with their own instruments use BLAS's threads.
  parallel_for(N, own ? N : 1, [&](index_t first, index_t end) {
    for (index_t i = first; i < end; ++i) found[static_cast<std::size_t>(i)] = residual(i);
  });
  for (std::size_t i = 0; i < which.size(); ++i) {
    if (by_itself)
      error.normal_residuals[which[i]] = found[i];
    else
      error.system_residual = std::fmax(error.system_residual, found[i]);
  }
  return error;
}

}  // namespace tesela
