#pragma once

#include "tools/bench/harness/row.hpp"
#include "tools/bench/harness/row_chart.hpp"
#include <tesela/runtime/types.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace tesela::bench {

/// A printed figure: a line of tools/bench/published/SOURCE.csv. docs/sources.md names the sources.
struct Figure {
  std::string_view source, table, section, row, column;
  index_t n = 0;  ///< order or columns; 0: none
  std::string_view precision, device, quantity, unit;
  double value = 0;
};

/// Returns all figures, by source.
const std::vector<Figure>& published_figures();

/// Search for a figure: an empty name and n = 0 match any.
struct FigureName {
  std::string_view source = {}, table = {}, row = {}, column = {};
  index_t n = 0;
  std::string_view precision = {}, quantity = "time";
};

/// Returns the value of the first figure that matches; 0 without one.
double published_value(const FigureName& name);

/// Returns Cinvestav's seconds of R and Q, transfers included, on as many K20X, or of MKL on 12 threads; 0 without
/// them. \param  matrix  its kind, as in "tridiagonal" \param  peer    of `tesela bench givens --table chain`: "chain
/// 128" or "lapack"; others have no figure
double published_chain_seconds(std::string_view precision, std::string_view matrix, index_t n, std::string_view peer,
                               int gpus);

/// A figure of a source (docs/sources.md), drawn again.
struct SourceFigure {
  std::string name;  ///< "figure-11"
  Chart chart;       ///< the source's axes; its values if it prints them, and ours
};

/// Returns the figures that a benchmark repeats, if its rows, just measured or read from its CSV, have their values.
std::vector<SourceFigure> source_figures(const std::string& benchmark, const std::vector<Row>& rows);

}  // namespace tesela::bench
