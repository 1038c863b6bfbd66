#include "cli/toeplitz_methods.hpp"

#include "algorithms/cauchy_factorization.hpp"
#include "algorithms/cauchy_inverse.hpp"
#include "algorithms/gohberg_semencul.hpp"
#include "algorithms/levinson.hpp"
#include "cli/sizes.hpp"

namespace tesela::cli {
namespace {

ToeplitzSolved read_report(const TileMatrix<double>& report) {
  const auto said = report(0, 0).read();
  ToeplitzSolved solved;
  solved.order = static_cast<index_t>(said(levinson_breakdown, 0));
  solved.growth = said(levinson_growth, 0);
  if (solved.order > 0)
    solved.failure =
        "breakdown: the leading minor of order " + std::to_string(solved.order) + " vanishes or is not finite";
  else
    solved.negative = static_cast<index_t>(said(levinson_negative, 0));
  return solved;
}

template <class T>
ToeplitzSolved by_levinson(Graph& g, const Toeplitz<T>& A, T sigma, const TileMatrix<T>& X) {
  const TileMatrix<T> shift(g.runtime(), 1, 1, {1, 1}, "shift");
  const TileMatrix<double> report(g.runtime(), levinson_report_rows, 1, {levinson_report_rows, 1}, "report");
  shift(0, 0).write()(0, 0) = sigma;
  levinson(g, A, shift, X, report);
  g.wait();
  return read_report(report);
}

std::string unrefined(const Status& status, index_t n) {
  return "refinement did not reach rounding level: column " + std::to_string(status.info - n - 1);
}

template <class T>
ToeplitzSolved by_gohberg_semencul(Graph& g, const Toeplitz<T>& A, T sigma, const TileMatrix<T>& X) {
  const GohbergSemencul<T> inverse(g, A, sigma);
  const TileMatrix<double> outcome(g.runtime(), X.n(), 4, {X.n(), 4}, "outcome");
  inverse.solve(g, X, outcome);
  const Status status = g.wait();
  ToeplitzSolved solved = read_report(inverse.report());
  if (!status.ok() && solved.failure.empty()) solved.failure = unrefined(status, A.n());
  return solved;
}

/// Inverse: CauchyInverse or CauchyFactorization.
template <class T, class Inverse>
ToeplitzSolved by_elimination(Graph& g, const Toeplitz<T>& A, T sigma, const TileMatrix<T>& X) {
  const Inverse inverse(g, A, sigma);
  const TileMatrix<double> outcome(g.runtime(), X.n(), 4, {X.n(), 4}, "outcome");
  inverse.solve(g, X, outcome);
  const Status status = g.wait();
  std::vector<double> said(2 * CauchyReport::rows);
  inverse.report().copy_to(said.data(), CauchyReport::rows);
  ToeplitzSolved solved;
  if (!status.ok() && status.info <= A.n()) {
    solved.order = status.info;
    solved.failure = "breakdown: sigma is an eigenvalue to rounding, or pivot " + std::to_string(status.info) +
                     " (of the symmetric vectors, then of the skew ones) vanishes";
    return solved;
  }
  solved.negative =
      static_cast<index_t>(said[CauchyReport::negative] + said[CauchyReport::rows + CauchyReport::negative]);
  if (!status.ok()) solved.failure = unrefined(status, A.n());
  return solved;
}

template <class T>
ToeplitzSolved by_cauchy(Graph& g, const Toeplitz<T>& A, T sigma, const TileMatrix<T>& X) {
  const auto n = static_cast<double>(A.n());
  require_memory("toeplitz solve", "the factors", n * n / 2 * sizeof(T));
  return by_elimination<T, CauchyFactorization<T>>(g, A, sigma, X);
}

}  // namespace

template <class T>
const std::vector<ToeplitzMethod<T>>& toeplitz_methods() {
  static const std::vector<ToeplitzMethod<T>> all{
      {"levinson", "Levinson's recursion, 4 n^2 flops", by_levinson<T>},
      {"gohberg-semencul",
       "the inverse's first column by Durbin's recursion, 2 n^2 flops, then Fourier transforms and refinement",
       by_gohberg_semencul<T>},
      {"lookahead",
       "the inverse in the sine basis by a pivoted elimination, 5.5 n^2 flops, then Fourier transforms and refinement; "
       "singular leading minors do no harm",
       by_elimination<T, CauchyInverse<T>>},
      {"cauchy",
       "L D L' of two half-size blocks in the sine basis, 5.5 n^2 flops and n^2 / 2 numbers, triangular solves and "
       "refinement",
       by_cauchy<T>},
  };
  return all;
}

template const std::vector<ToeplitzMethod<float>>& toeplitz_methods();
template const std::vector<ToeplitzMethod<double>>& toeplitz_methods();

}  // namespace tesela::cli
