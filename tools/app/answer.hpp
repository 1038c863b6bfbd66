#pragma once

#include <tesela/tiles/host_matrix.hpp>

#include <nlohmann/json.hpp>

#include <string>

namespace tesela::cli {

/// Returns a matrix as a table for a person: all rows if there are at most 20, otherwise the first and last; columns if
/// there are at most 6. T: float, double.
template <class T>
std::string answer_table(const std::string& name, const HostMatrix<T>& matrix);

/// Returns a matrix as JSON: an array of numbers for one column, otherwise an array of rows; null if it has more than
/// 1000 numbers.
template <class T>
nlohmann::json answer_json(const HostMatrix<T>& matrix);

}  // namespace tesela::cli
