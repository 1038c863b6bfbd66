#include <tesela/algorithms/econometrics/generated_model.hpp>
#include <tesela/codelets/libraries/lapack.hpp>
#include <tesela/tiles/filled.hpp>

#include <algorithm>
#include <cmath>

namespace tesela {
namespace {

void require(bool good, const char* argument, index_t value, const char* problem) {
  if (!good) throw ArgumentError("generate_model", argument, std::to_string(value) + " " + problem);
}

HostMatrix<double> normal(index_t m, index_t n, std::uint64_t seed) {
  return generate<double>({m, n}, Generator<double>{Pattern::normal, 0, 0, seed});
}

}  // namespace

GeneratedModel generate_model(const ModelSizes& sizes, std::uint64_t seed) {
  const index_t D = sizes.observations, N = sizes.equations, K = sizes.exogenous;
  require(D >= 0, "observations", D, "is negative");
  require(N >= 1, "equations", N, "is less than 1");
  require(K >= 1, "exogenous", K, "is less than 1");
  const index_t endogenous = std::min(sizes.included / 2, N - 1), exogenous = sizes.included - endogenous;
  require(exogenous >= 1, "included", sizes.included, "is less than 1");
  require(exogenous <= K, "included", sizes.included, "asks for more exogenous variables than there are");
  const Generator<double> exogenous_numbers{Pattern::normal, 0, K, seed, D};
  GeneratedModel m{filled<double>({D, K + N},
                                  [&](index_t t, index_t k) {
                                    return k == 0 ? 1 : k < K ? exogenous_numbers(t, k) : 0;
                                  }),
                   {K, 0, {}},
                   {"(Intercept)"},
                   {}};
  for (index_t k = 1; k < K; ++k) m.names.push_back(std::string("x").append(std::to_string(k)));
  for (index_t i = 1; i <= N; ++i) m.names.push_back(std::string("y").append(std::to_string(i)));

  const HostMatrix<double> U = normal(D, N + 1, seed + 1);
  const Generator<double> coefficients{Pattern::uniform, 0, 0, seed + 2};
  HostMatrix<double> Bt = HostMatrix<double>::zeros(N, N), right(N, D);  // B^T Y^T = (X C + U)^T
  for (index_t i = 0; i < N; ++i) {
    Equation e{K + i};
    std::vector<double> truth;
    for (index_t t = 0; t < D; ++t) right(i, t) = sizes.noise * (0.8 * U(t, i) + 0.6 * U(t, N));
    Bt(i, i) = 1;
    for (index_t k = 0; k < exogenous; ++k) {
      const index_t c = k == 0 ? 0 : 1 + (i * (exogenous - 1) + k - 1) % (K - 1);
      const double u = coefficients.uniform(i, c), b = u + std::copysign(0.5, u);
      e.regressors.push_back(c);
      truth.push_back(b);
      for (index_t t = 0; t < D; ++t) right(i, t) += b * m.data(t, c);
    }
    for (index_t k = 1; k <= endogenous; ++k) {
      const index_t c = (i + k) % N;
      const double b = 0.7 * coefficients.uniform(i, K + c) / std::sqrt(static_cast<double>(endogenous));
      e.regressors.push_back(K + c);
      truth.push_back(b);
      Bt(i, c) = -b;
    }
    m.model.equations.push_back(std::move(e));
    m.truth.push_back(std::move(truth));
  }
  if (D > 0 && lapack::gesv(N, D, Bt.data(), N, right.data(), N) != 0)
    throw ArgumentError("generate_model", "seed", "makes a singular model: take another");
  for (index_t i = 0; i < N; ++i)
    for (index_t t = 0; t < D; ++t) m.data(t, K + i) = right(i, t);
  return m;
}

std::string formulas_of(const GeneratedModel& model) {
  std::string text;
  const auto name = [&](index_t c) { return model.names[static_cast<std::size_t>(c)]; };
  for (std::size_t i = 0; i < model.model.equations.size(); ++i) {
    const Equation& e = model.model.equations[i];
    text.append("eq").append(std::to_string(i + 1)).append(": ").append(name(e.dependent)).append(" ~ 1");
    for (const index_t c : e.regressors)
      if (c != 0) text.append(" + ").append(name(c));
    text.append("\n");
  }
  text.append("instruments: ~ 1");
  for (index_t c = 1; c < model.model.instruments; ++c) text.append(" + ").append(name(c));
  return text.append("\n");
}

}  // namespace tesela
