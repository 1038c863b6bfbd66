#pragma once

#include <tesela/algorithms/econometrics/generated_model.hpp>
#include <tesela/algorithms/econometrics/model_data.hpp>
#include <tesela/tiles/row_source.hpp>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tesela::cli {

/// The sources of a model and its data.
struct SemInput {
  std::string data, names, model, select, weights, clusters;
  std::string missing = "drop";
  ModelSizes sizes;
  index_t rows_at_once = 0;  ///< 0: chosen, and generated data are held where they fit
  bool hold = false;         ///< the data, for what takes them again
  bool generated() const { return data.empty(); }
};

/// Data and a model of their columns.
struct SemProblem {
  HostMatrix<double> data;  ///< 0 x 0 where they are streamed
  SimultaneousModel model;
  std::vector<std::string> labels, names;  ///< of the equations, of the columns
  index_t dropped = 0, without_weight = 0;
  std::vector<index_t> clusters = {};             ///< of each row
  std::vector<std::vector<double>> truth = {};    ///< of a generated model
  std::string formulas = {};                      ///< the same
  RowSource<double> rows = {};                    ///< of streamed data
  index_t all_rows = 0;                           ///< with those that were left out, where there are any of these
  std::optional<std::vector<index_t>> kept = {};  ///< then, which stayed
  std::vector<double> root_weights = {};          ///< what these were multiplied by, with weights

  bool streamed() const { return rows.read != nullptr; }
  /// The data's rows, as long as this stays where it is.
  RowSource<double> source() const { return streamed() ? rows : rows_of(data); }

  const std::string& name(index_t column) const { return names[static_cast<std::size_t>(column)]; }
};

/// Throws FileError and ArgumentError, as the readers do.
SemProblem load_sem(const SemInput& input, SemMethod method, std::uint64_t seed);

/// Writes these columns as CSV, after a column of row names if there are any. NaN becomes NA.
void write_csv(const std::string& path, const std::vector<std::string>& names, const HostMatrix<double>& columns,
               const std::vector<std::string>& rows = {});

/// A CSV field, in quotes where it needs them.
std::string csv_field(const std::string& text);

}  // namespace tesela::cli
