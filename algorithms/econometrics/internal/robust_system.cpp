#include <tesela/algorithms/dense/matrices.hpp>
#include <tesela/algorithms/econometrics/internal/robust_system.hpp>
#include <tesela/host/minimum_norm.hpp>
#include <tesela/runtime/machine/memory.hpp>

#include <algorithm>

namespace tesela::detail {

using namespace kernels;
namespace {

/// Copies `a` into `into` from this row and column on.
void place(const HostMatrix<double>& a, HostMatrix<double>& into, index_t row, index_t column) {
  for (index_t j = 0; j < a.cols(); ++j) std::copy_n(&a(0, j), a.rows(), &into(row, column + j));
}

/// Returns y_i - Z_i b_i of the data, D x N, in the variables' units.
HostMatrix<double> data_residuals(const DataRows& rows, const Variables& v, const System& system) {
  HostMatrix<double> E(rows.data.rows(), std::ssize(system.which));
  for (index_t i = 0; i < E.cols() && E.rows() > 0; ++i) {
    const auto k = static_cast<std::size_t>(i);
    const Equation& e = *system.in_model[k];
    const HostMatrix<double> y = scaled_columns(rows.data, v, {}, {e.dependent}),
                             Z = scaled_columns(rows.data, v, {}, e.regressors);
    place(y, E, 0, i);
    for (std::size_t p = 0; p < e.regressors.size(); ++p)
      for (index_t t = 0; t < E.rows(); ++t) E(t, i) -= system.scaled[k][p] * Z(t, static_cast<index_t>(p));
  }
  return E;
}

/// The moments of Hansen's test: columns diag(e_i) Q, and [Z_i, y_i] in the basis Q, for each equation.
class Moments {
 public:
  Moments(index_t rows, index_t moments, index_t unknowns)
      : B_(rows, moments), P_(HostMatrix<double>::zeros(moments, unknowns + 1)) {}

  void add(const PickedEquation& e, const HostMatrix<double>& Q, const HostMatrix<double>& E, index_t i,
           const Clusters& clusters) {
    HostMatrix<double> own = Q.clone();
    times_rows(own, E, i);
    place(clusters.sums(std::move(own)), B_, 0, row_);
    place(first_rows_of(*e.variables, e.regressors), P_, row_, column_);
    place(first_rows_of(*e.variables, {e.dependent}), P_, row_, P_.cols() - 1);
    row_ += Q.cols();
    column_ += e.size();
  }

  TestStatistic hansen(Graph& g, double tolerance) {
    const HostMatrix<double> T = triangle_of(g, B_);
    if (!(triangle_condition(T, true) * tolerance <= 1)) return {};
    triangular_solve(g, Op::transpose, T, P_);
    const HostMatrix<double> R = triangle_of(g, P_);
    const index_t last = P_.cols() - 1;
    return {R(last, last) * R(last, last), P_.rows() - last, 0};
  }

 private:
  HostMatrix<double> B_, P_;
  index_t row_ = 0, column_ = 0;
};

}  // namespace

RobustSystem robust_system(Graph& g, const DataRows& rows, const Clusters& clusters, const Variables& v,
                           const System& system, const Weights& weights, const ThirdStage& stage, bool instrumental) {
  const HostMatrix<double> E = data_residuals(rows, v, system);
  const index_t D = E.rows(), N = E.cols(), count = clusters.none() ? D : clusters.count();
  HostMatrix<double> scaled = E.clone();
  for (index_t j = 0; j < N; ++j)
    for (index_t t = 0; t < D; ++t) scaled(t, j) /= weights.sigmas[static_cast<std::size_t>(j)];
  const HostMatrix<double> W = product(g, Op::none, Op::none, scaled, weights.inverse);

  index_t moments = 0;
  for (const PickedEquation& e : system.picked) moments += e.variables->rows;
  const bool tested = instrumental && moments > stage.unknowns() && count >= moments &&
                      16.0 * static_cast<double>(count) * static_cast<double>(moments) <= usable_host_bytes() / 4;
  Moments test(tested ? count : 0, tested ? moments : 0, stage.unknowns());
  RobustSystem result{HostMatrix<double>(count, stage.unknowns())};
  HostMatrix<double> common;  // basis of the model's instruments
  index_t start = 0;
  for (std::size_t i = 0; i < system.picked.size(); ++i) {
    const PickedEquation& e = system.picked[i];
    const OwnBasis* own = system.own[i];
    HostMatrix<double> separate, Z;
    if (instrumental) {
      if (own != nullptr)
        separate = instrument_basis(g, rows.data, own->variables, own->columns);
      else if (common.size() == 0)
        common = instrument_basis(g, rows.data, v, {});
      const HostMatrix<double>& Q = own != nullptr ? separate : common;
      Z = product(g, Op::none, Op::none, Q, first_rows_of(*e.variables, e.order));
      if (tested) test.add(e, Q, E, static_cast<index_t>(i), clusters);
    } else {
      Z = scaled_columns(rows.data, v, {}, e.order);
    }
    HostMatrix<double> scores = product(g, Op::none, Op::none, Z, inverse_of(g, stage.R(i)));
    times_rows(scores, W, static_cast<index_t>(i));
    place(clusters.sums(std::move(scores)), result.scores, 0, start);
    start += e.size();
  }
  if (tested) result.hansen = test.hansen(g, v.tolerance);
  return result;
}

}  // namespace tesela::detail
