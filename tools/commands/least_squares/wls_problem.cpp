#include "tools/commands/least_squares/wls_problem.hpp"

#include "tools/problems/least_squares/ols.hpp"
#include "tools/problems/support/input_files.hpp"
#include <tesela/algorithms/dense/random_matrix.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/tiles/filled.hpp>
#include <tesela/tiles/generator.hpp>
#include <tesela/tiles/io/file_formats.hpp>
#include <tesela/tiles/io/kept_value.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

namespace tesela::cli {
namespace {

void settle_files(WlsOptions& o) {
  const std::pair<const char*, const std::string*> kinds[] = {
      {"weights", &o.weights}, {"factor", &o.factor}, {"sigma", &o.sigma}};
  const std::string* covariance = nullptr;
  for (const auto& [name, file] : kinds) {
    if (file->empty()) continue;
    if (covariance != nullptr)
      throw ArgumentError("wls", "--" + std::string(name), "and --" + o.by + ": give one of them");
    covariance = file;
    o.by = name;
  }
  const std::string option = "--" + o.by, empty;
  if (covariance == nullptr && !o.a.empty()) throw ArgumentError("wls", "--a", "needs --weights, --factor or --sigma");
  std::vector<InputFile> files{
      {"--a", o.a}, {"--b", o.b}, {option.c_str(), covariance != nullptr ? *covariance : empty}};
  if (!probe_all("wls", files)) return;
  require_rows_of("wls", files[0], files[1]);
  require_rows_of("wls", files[0], files[2]);
  if (const index_t wanted = o.by_weights() ? 1 : files[0].shape.rows; files[2].shape.cols != wanted)
    throw ArgumentError(
        "wls", option,
        *covariance + " has " + std::to_string(files[2].shape.cols) + " columns, not " + std::to_string(wanted));
  o.m = files[0].shape.rows;
  o.n = files[0].shape.cols;
  o.rhs = files[1].shape.cols;
  o.streamed = o.by_weights() && can_stream(o.method, o.a, files[0].shape, o.rhs);
}

/// B += A x.
template <class T>
void add_product(const HostMatrix<T>& a, Op op, const HostMatrix<T>& x, HostMatrix<T>& b) {
  if (b.size() > 0 && a.cols() > 0)
    blas::gemm(Op::none, op, b.rows(), b.cols(), a.cols(), T(1), a.data(), a.ld(), x.data(), x.ld(), T(1), b.data(),
               b.ld());
}

template <class T>
WlsProblem<T> generated(const WlsOptions& o) {
  const auto uniform = [&](index_t rows, index_t columns, std::uint64_t seed) {
    return generate<T>({rows, columns}, Generator<T>{Pattern::uniform, T(0), 0, o.common.seed + seed});
  };
  WlsProblem<T> p;
  p.a = generate<T>({o.m, o.n}, parse_random_kind(o.random), o.common.seed);
  p.b = uniform(o.m, o.rhs, 2);
  if (o.by_weights()) {
    const HostMatrix<T> exponents = uniform(o.m, 1, 1);
    for (index_t i = 0; i < o.m; ++i)
      p.weights.push_back(static_cast<T>(std::pow(10.0, o.spread * static_cast<double>(exponents(i, 0)))));
    return p;
  }
  const blas::Threads threads(blas::all_cores());
  p.covariance = generate<T>({o.m, o.m}, parse_random_kind(o.random_b, "--random-b"), o.common.seed + 1);
  if (!o.inconsistent) {
    p.b = HostMatrix<T>::zeros(o.m, o.rhs);
    add_product(p.a, Op::none, uniform(o.n, o.rhs, 3), p.b);
    add_product(p.covariance, Op::none, uniform(o.m, o.rhs, 4), p.b);
  }
  if (!o.by_sigma()) return p;
  HostMatrix<T> sigma = HostMatrix<T>::zeros(o.m, o.m);
  add_product(p.covariance, Op::transpose, p.covariance, sigma);
  for (index_t j = 0; j < o.m; ++j)
    for (index_t i = 0; i < j; ++i) sigma(j, i) = sigma(i, j);
  p.covariance = std::move(sigma);
  return p;
}

/// Throws ArgumentError for a weight that is negative, or that T does not hold: a library's method has no wls() that
/// would.
template <class T>
std::vector<T> read_weights(const std::string& path) {
  const HostMatrix<double> weights = read_matrix<double>(path);
  std::vector<T> result;
  for (index_t i = 0; i < weights.rows(); ++i) {
    const double weight = weights(i, 0);
    result.push_back(static_cast<T>(weight));
    const char* const wrong = weight < 0                     ? "; weights are not negative"
                              : keeps(weight, result.back()) ? nullptr
                                                             : "; that does not fit single precision";
    if (wrong != nullptr)
      throw ArgumentError("wls", "--weights",
                          fmt::format("{}: the weight of row {} is {}{}", path, i + 1, weight, wrong));
  }
  return result;
}

}  // namespace

void resolve(WlsOptions& o) {
  settle_automatic(o.method);
  require_valid("wls", o.method, o.tile, o.common);
  require_rcond("wls", o.rcond);
  o.uncertainty.require_valid("wls", o.method);
  settle_files(o);
  if (!(o.spread >= 0 && o.spread <= 15))
    throw ArgumentError("wls", "--spread", "is the largest exponent of a generated weight, from 0 to 15");
  if (o.n < 0) o.n = 256;
  if (o.m < 0) o.m = 4 * o.n;
}

template <class T>
WlsProblem<T> load_wls(const WlsOptions& o) {
  if (o.a.empty()) return generated<T>(o);
  WlsProblem<T> p;
  if (o.by_weights()) p.weights = read_weights<T>(o.weights);
  // A row of weight 0 does not count, whatever it holds.
  const Counted counts = [weights = p.weights](index_t i, index_t) {
    return weights[static_cast<std::size_t>(i)] > T(0);
  };
  const Counted counted = o.by_weights() ? counts : Counted();
  if (o.streamed)
    p.rows = std::make_unique<MatrixRows<T>>(o.a, Nans::refused, counted);
  else
    p.a = read_matrix<T>(o.a, counted);
  p.b = read_matrix<T>(o.b, counted);
  if (!o.by_weights()) p.covariance = read_matrix<T>(o.by_sigma() ? o.sigma : o.factor);
  return p;
}

template <class T>
T weight_unit(const std::vector<T>& weights) {
  const T most = weights.empty() ? T(0) : *std::max_element(weights.begin(), weights.end());
  return most > T(0) ? std::ldexp(T(1), 2 * (std::ilogb(most) / 2)) : T(1);
}

template <class T>
void scale_rows(const std::vector<T>& weights, T unit, index_t first, const Block<T>& rows) {
  for (index_t i = 0; i < rows.rows; ++i) {
    const T weight = weights[static_cast<std::size_t>(first + i)], root = std::sqrt(weight / unit);
    for (index_t j = 0; j < rows.cols; ++j) rows(i, j) = weight > T(0) ? root * rows(i, j) : T(0);
  }
}

template WlsProblem<float> load_wls(const WlsOptions&);
template WlsProblem<double> load_wls(const WlsOptions&);
template float weight_unit(const std::vector<float>&);
template double weight_unit(const std::vector<double>&);
template void scale_rows(const std::vector<float>&, float, index_t, const Block<float>&);
template void scale_rows(const std::vector<double>&, double, index_t, const Block<double>&);

}  // namespace tesela::cli
