#include "tools/app/answer.hpp"

#include <fmt/format.h>

#include <limits>
#include <vector>

namespace tesela::cli {
namespace {

constexpr index_t most_rows = 20, most_columns = 6, most_numbers = 1000;

/// Returns the shown indices: all, or the first and last `few`, with -1 for the gap.
std::vector<index_t> shown(index_t count, index_t most, index_t few) {
  std::vector<index_t> all;
  for (index_t k = 0; k < count; ++k)
    if (count <= most || k < few || k >= count - few) {
      if (!all.empty() && all.back() + 1 != k) all.push_back(-1);
      all.push_back(k);
    }
  return all;
}

}  // namespace

template <class T>
std::string answer_table(const std::string& name, const HostMatrix<T>& matrix) {
  constexpr int digits = std::numeric_limits<T>::digits10 < 10 ? std::numeric_limits<T>::digits10 + 1 : 10;
  const std::vector<index_t> rows = shown(matrix.rows(), most_rows, 5), columns = shown(matrix.cols(), most_columns, 3);
  std::string text = name;
  if (matrix.cols() > 1 || matrix.rows() > most_rows) text += fmt::format(", {}", to_string(matrix.shape()));
  text += '\n';
  const std::size_t width = std::to_string(matrix.rows()).size() + 2;
  for (const index_t i : rows) {
    text += fmt::format("{:>{}}", i < 0 ? std::string("...") : std::to_string(i + 1), width);
    for (const index_t j : columns)
      if (i >= 0) text += j < 0 ? std::string("   ...") : fmt::format(" {:>17.{}g}", double(matrix(i, j)), digits);
    text += '\n';
  }
  return text;
}

template <class T>
nlohmann::json answer_json(const HostMatrix<T>& matrix) {
  if (matrix.size() > most_numbers) return nullptr;
  nlohmann::json rows = nlohmann::json::array();
  for (index_t i = 0; i < matrix.rows(); ++i) {
    nlohmann::json row = nlohmann::json::array();
    for (index_t j = 0; j < matrix.cols(); ++j) row.push_back(static_cast<double>(matrix(i, j)));
    rows.push_back(matrix.cols() == 1 ? row[0] : row);
  }
  return rows;
}

template std::string answer_table(const std::string&, const HostMatrix<float>&);
template std::string answer_table(const std::string&, const HostMatrix<double>&);
template nlohmann::json answer_json(const HostMatrix<float>&);
template nlohmann::json answer_json(const HostMatrix<double>&);

}  // namespace tesela::cli
