#include "tools/app/answer.hpp"

#include <tesela/runtime/scalar.hpp>

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

/// Returns a number as a column of a table has it.
template <class T>
std::string in_table(T x, int digits) {
  std::string text = fmt::format(" {:>17.{}g}", static_cast<double>(real_part(x)), digits);
  if constexpr (is_complex<T>) text += fmt::format(" {:>+17.{}g}i", static_cast<double>(x.imag()), digits);
  return text;
}

/// Returns a number, or [real, imaginary].
template <class T>
nlohmann::json in_json(T x) {
  if constexpr (is_complex<T>)
    return nlohmann::json::array({static_cast<double>(x.real()), static_cast<double>(x.imag())});
  else
    return static_cast<double>(x);
}

}  // namespace

template <class T>
std::string answer_table(const std::string& name, const HostMatrix<T>& matrix) {
  constexpr int most = std::numeric_limits<real_t<T>>::digits10, digits = most < 10 ? most + 1 : 10;
  const std::vector<index_t> rows = shown(matrix.rows(), most_rows, 5), columns = shown(matrix.cols(), most_columns, 3);
  std::string text = name;
  if (matrix.cols() > 1 || matrix.rows() > most_rows) text += fmt::format(", {}", to_string(matrix.shape()));
  text += '\n';
  const std::size_t width = std::to_string(matrix.rows()).size() + 2;
  for (const index_t i : rows) {
    text += fmt::format("{:>{}}", i < 0 ? std::string("...") : std::to_string(i + 1), width);
    for (const index_t j : columns)
      if (i >= 0) text += j < 0 ? std::string("   ...") : in_table(matrix(i, j), digits);
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
    for (index_t j = 0; j < matrix.cols(); ++j) row.push_back(in_json(matrix(i, j)));
    rows.push_back(matrix.cols() == 1 ? row[0] : row);
  }
  return rows;
}

TESELA_FUNCTIONS_FOR_NUMBERS(answer_table, answer_json)

}  // namespace tesela::cli
