#include <tesela/algorithms/least_squares/internal/filtered_values.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace tesela::detail {
namespace {

/// Returns the place of the minimum of f between low and high by golden sections.
template <class F>
double golden_section(const F& f, double low, double high) {
  constexpr double ratio = 0.6180339887498949;
  double left = high - ratio * (high - low), right = low + ratio * (high - low);
  double at_left = f(left), at_right = f(right);
  for (int step = 0; step < 60; ++step)
    if (at_left <= at_right) {
      high = std::exchange(right, left), at_right = at_left;
      left = high - ratio * (high - low), at_left = f(left);
    } else {
      low = std::exchange(left, right), at_left = at_right;
      right = low + ratio * (high - low), at_right = f(right);
    }
  return at_left <= at_right ? left : right;
}

}  // namespace

FilteredValues::FilteredValues(Regularization kind, std::vector<double> s, std::vector<double> z, double rest,
                               index_t rows, index_t constant)
    : kind_(kind), s_(std::move(s)), z_(std::move(z)), rest_(rest), rows_(rows), constant_(constant) {}

double FilteredValues::loss(index_t i, double parameter) const {
  if (kind_ == Regularization::truncated) return static_cast<double>(i) < parameter ? 0 : 1;
  return parameter > 0 ? 1 / (1 + s_[at(i)] * (s_[at(i)] / parameter)) : 0;
}

double FilteredValues::weight(index_t i, double parameter) const {
  const double s = s_[at(i)];
  if (kind_ == Regularization::truncated) return static_cast<double>(i) < parameter ? 1 / s : 0;
  return 1 / (s + parameter / s);
}

double FilteredValues::rest_of_trace(double parameter) const {
  double trace = static_cast<double>(std::max<index_t>(rows_ - constant_ - std::ssize(s_), 0));
  for (index_t i = 0; i < std::ssize(s_); ++i) trace += loss(i, parameter);
  return trace;
}

double FilteredValues::effective_df(double parameter) const {
  double sum = static_cast<double>(std::min(constant_, rows_));
  for (index_t i = 0; i < std::ssize(s_); ++i) sum += s_[at(i)] * weight(i, parameter);
  return sum;
}

double FilteredValues::residual_norm(double parameter) const {
  double squares = rest_ * rest_;
  for (index_t i = 0; i < std::ssize(s_); ++i) {
    const double part = loss(i, parameter) * z_[at(i)];
    squares += part * part;
  }
  return std::sqrt(squares);
}

double FilteredValues::gcv(double parameter) const {
  const double trace = rest_of_trace(parameter);
  if (!(trace > 0)) return std::numeric_limits<double>::quiet_NaN();
  const double share = residual_norm(parameter) / trace;
  return static_cast<double>(rows_) * share * share;
}

void FilteredValues::minimize(RegularizedFit& fit) const {
  fit.curve.clear();
  if (kind_ == Regularization::ridge) return minimize_ridge(fit);
  for (index_t k = 0; k <= std::ssize(s_); ++k)
    if (const double value = gcv(static_cast<double>(k)); !std::isnan(value))
      fit.curve.push_back({static_cast<double>(k), value});
  const auto least = std::min_element(fit.curve.begin(), fit.curve.end(),
                                      [](const GcvPoint& a, const GcvPoint& b) { return a.gcv < b.gcv; });
  fit.parameter = least == fit.curve.end() ? 0 : least->parameter;
}

void FilteredValues::minimize_ridge(RegularizedFit& fit) const {
  fit.parameter = 0;
  if (s_.empty()) return;
  // G is flat outside this range.
  constexpr index_t points = 201;
  const double low = 2 * std::log(s_.back()) - std::log(1e4), high = 2 * std::log(s_.front()) + std::log(1e4);
  const auto place = [&](index_t i) { return low + (high - low) * static_cast<double>(i) / (points - 1); };
  index_t best = 0;
  for (index_t i = 0; i < points; ++i) {
    fit.curve.push_back({std::exp(place(i)), gcv(std::exp(place(i)))});
    if (fit.curve[at(i)].gcv < fit.curve[at(best)].gcv) best = i;
  }
  fit.at_end = best == points - 1;
  fit.parameter = fit.curve[at(best)].parameter;
  if (best > 0 && !fit.at_end) {
    const double finer =
        std::exp(golden_section([&](double x) { return gcv(std::exp(x)); }, place(best - 1), place(best + 1)));
    if (gcv(finer) < fit.curve[at(best)].gcv) fit.parameter = finer;
  }
  if (gcv(0) <= gcv(fit.parameter)) fit.parameter = 0;  // false for a NaN
  if (fit.parameter == 0) fit.at_end = false;
}

}  // namespace tesela::detail
