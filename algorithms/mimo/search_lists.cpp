#include <tesela/algorithms/mimo/internal/search_tiles.hpp>
#include <tesela/algorithms/mimo/search_lists.hpp>

#include <algorithm>
#include <cmath>

namespace tesela::mimo {
namespace {

kernels::SearchColumn add_axis(const Constellation::Axis& axis, std::vector<kernels::SearchPoint>& points) {
  kernels::SearchColumn column{static_cast<int>(points.size()), static_cast<int>(axis.labels.size()), axis.low,
                               axis.step, 0};
  for (const int label : axis.labels) points.push_back({0, 0, label});
  column.largest = std::fmax(std::abs(axis.low), std::abs(axis.low + axis.step * (column.count - 1)));
  return column;
}

kernels::SearchColumn add_points(const Constellation& c, std::vector<kernels::SearchPoint>& points) {
  kernels::SearchColumn column{static_cast<int>(points.size()), static_cast<int>(c.size()), 0, 0, 0};
  for (int label = 0; label < c.size(); ++label) {
    const auto p = c.points[static_cast<std::size_t>(label)];
    points.push_back({p.real(), p.imag(), label});
    column.largest = std::fmax(column.largest, std::abs(p));
  }
  return column;
}

template <class X>
HostMatrix<X> as_row(const std::vector<X>& list) {
  HostMatrix<X> made(1, static_cast<index_t>(list.size()));
  std::copy(list.begin(), list.end(), made.data());
  return made;
}

}  // namespace

SearchLists lists_of(const std::vector<Constellation>& alphabets, SearchForm form) {
  std::vector<Constellation::Product> products;
  for (const Constellation& c : alphabets) {
    if (c.size() < 2 || c.size() != index_t{1} << c.bits())
      refuse("alphabets", c.name + " has " + std::to_string(c.size()) + " points; a power of two, at least 2");
    for (const auto& p : c.points)
      if (!std::isfinite(p.real()) || !std::isfinite(p.imag())) refuse("alphabets", c.name + " is not finite");
    for (const auto& product : c.product()) products.push_back(product);
  }
  const bool possible = products.size() == alphabets.size();
  if (form == SearchForm::real && !possible) refuse("form", "real form is for square QAM");
  SearchLists made;
  made.real_form = possible && form != SearchForm::complex;
  std::vector<kernels::SearchColumn> columns;
  std::vector<kernels::SearchPoint> points;
  if (made.real_form) {
    for (const auto& product : products) columns.push_back(add_axis(product.re, points));
    for (const auto& product : products) columns.push_back(add_axis(product.im, points));
  } else {
    for (const Constellation& c : alphabets) columns.push_back(add_points(c, points));
  }
  for (const Constellation& c : alphabets) made.labels += static_cast<int>(c.size());
  made.columns = as_row(columns), made.points = as_row(points);
  return made;
}

SearchLists lists_with_parts(const std::vector<Constellation>& alphabets) {
  SearchLists made = lists_of(alphabets, SearchForm::complex);
  std::vector<kernels::SearchColumn> columns(made.columns.data(), made.columns.data() + made.columns.size()), imaginary;
  std::vector<kernels::SearchPoint> points(made.points.data(), made.points.data() + made.points.size());
  for (const Constellation& c : alphabets)
    for (const auto& [re, im] : c.product()) {
      if (re.low != im.low || re.step != im.step || re.labels.size() != im.labels.size()) continue;
      columns.push_back(add_axis(re, points));
      imaginary.push_back(add_axis(im, points));
    }
  if (imaginary.size() != alphabets.size()) return made;
  columns.insert(columns.end(), imaginary.begin(), imaginary.end());
  made.amplitudes = static_cast<index_t>(points.size()) - made.points.size();
  made.columns = as_row(columns), made.points = as_row(points);
  return made;
}

index_t SearchLists::most_amplitudes() const {
  int most = 0;
  const index_t parts = amplitudes > 0 ? columns.cols() / 3 : columns.cols();  // points come before them
  for (index_t c = parts; c < columns.cols(); ++c) most = std::max(most, columns(0, c).count);
  return most;
}

}  // namespace tesela::mimo
