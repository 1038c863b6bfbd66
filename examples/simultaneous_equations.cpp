// Supply and demand, two equations with the price in both, by 2SLS and 3SLS.
//
//   build/bin/examples/simultaneous_equations
//
// The data are generated with known coefficients. The command `tesela sem` reads data and formulas from files.

#include <tesela/algorithms/econometrics/simultaneous_equations.hpp>
#include <tesela/tiles/generator.hpp>

#include <cmath>
#include <cstdio>

using namespace tesela;

namespace {

constexpr index_t D = 2000;
enum Variable : index_t { one, income, rain, trend, price, quantity, variables };
constexpr double truth[2][4] = {{10, -2, 1.5}, {3, 1, 2, 0.5}};  // coefficients of 1, price and the other variables

/// Solves both equations for price and quantity, with errors of 0.1.
HostMatrix<double> market() {
  HostMatrix<double> data(D, variables);
  const Generator<double> normal{Pattern::normal, 0, 0, 7};
  for (index_t t = 0; t < D; ++t) {
    data(t, one) = 1;
    for (const index_t c : {income, rain, trend}) data(t, c) = normal(t, c);
    const double shared = normal(t, 10), of_demand = 0.1 * (shared + normal(t, 11)),
                 of_supply = 0.1 * (shared - normal(t, 12));
    const double demanded = truth[0][0] + truth[0][2] * data(t, income) + of_demand,
                 supplied = truth[1][0] + truth[1][2] * data(t, rain) + truth[1][3] * data(t, trend) + of_supply;
    data(t, price) = (demanded - supplied) / (truth[1][1] - truth[0][1]);
    data(t, quantity) = demanded + truth[0][1] * data(t, price);
  }
  return data;
}

}  // namespace

int main() {
  Runtime runtime;
  // The first four variables are the instruments.
  const SimultaneousModel model{
      4, one, {{quantity, {one, price, income}, {}}, {quantity, {one, price, rain, trend}, {}}}};
  Graph g(runtime);
  const ModelTriangle triangle = model_triangle(g, market());  // the data are not read again
  bool good = true;
  for (const SemMethod method : {SemMethod::two_stage, SemMethod::three_stage}) {
    const SimultaneousEquations s = estimate(g, triangle, model, {.method = method});
    for (std::size_t i = 0; i < 2; ++i) {
      const EquationEstimate& e = s.equations[i];
      std::printf("%s %s: %s\n", name_of(sem_methods(), method), i == 0 ? "demand" : "supply", description(e.status));
      for (std::size_t p = 0; p < e.coefficients.size(); ++p) {
        const double error = e.coefficients[p] - truth[i][p];
        std::printf("  %9.5f (%.5f), off by %8.5f\n", e.coefficients[p], e.standard_errors[p], error);
        good = good && std::abs(error) <= 5 * e.standard_errors[p];
      }
      good = good && e.status == EquationStatus::ok;
    }
  }
  return good ? 0 : 1;
}
