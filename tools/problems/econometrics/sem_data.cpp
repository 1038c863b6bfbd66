#include "tools/problems/econometrics/sem_data.hpp"

#include <tesela/host/blas.hpp>
#include <tesela/host/lapack.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tesela::bench {

double SemData::check(const std::string& peer, const std::vector<std::vector<double>>& coefficients) const {
  if (first_.empty()) first_ = coefficients;
  double most = coefficients.size() == first_.size() ? 0 : INFINITY;
  for (std::size_t i = 0; i < first_.size() && std::isfinite(most); ++i) {
    double size = 0;
    if (coefficients[i].size() != first_[i].size()) most = INFINITY;
    for (const double b : first_[i]) size = std::max(size, std::abs(b));
    for (std::size_t p = 0; p < first_[i].size() && std::isfinite(most); ++p) {
      const double distance = std::abs(coefficients[i][p] - first_[i][p]) / size;
      most = std::isfinite(distance) ? std::max(most, distance) : INFINITY;
    }
  }
  if (!(most <= 1e-9))
    throw WrongResult(fmt::format("bench sem: {}: coefficients are {:.3g} from another peer's (1e-9)", peer, most));
  return most / 1e-9;
}

std::vector<std::vector<double>> SemData::by_lapack() const {
  const index_t D = model_.data.rows(), n = model_.data.cols(), K = model_.model.instruments;
  HostMatrix<double> R = model_.data.clone();
  std::vector<double> tau(static_cast<std::size_t>(std::min(D, n)));
  lapack::geqrf(D, n, R.data(), D, tau.data());
  std::vector<std::vector<double>> all;
  HostMatrix<double> Z, y(K, 1);
  for (const Equation& e : model_.model.equations) {
    const auto r = static_cast<index_t>(e.regressors.size());
    if (Z.cols() != r) Z = HostMatrix<double>(K, r);
    const auto gather = [&](index_t c, double* to) {
      const index_t kept = std::min(c + 1, K);
      std::copy_n(&R(0, c), kept, to);
      std::fill_n(to + kept, K - kept, 0.0);
    };
    for (index_t p = 0; p < r; ++p) gather(e.regressors[static_cast<std::size_t>(p)], &Z(0, p));
    gather(e.dependent, y.data());
    lapack::geqrf(K, r, Z.data(), K, tau.data());
    lapack::ormqr(Op::transpose, K, 1, r, Z.data(), K, tau.data(), y.data(), K);
    blas::trsm(Op::none, r, 1, Z.data(), K, y.data(), K);
    all.emplace_back(y.data(), y.data() + r);
  }
  return all;
}

}  // namespace tesela::bench
