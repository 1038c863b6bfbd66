#pragma once

#include "runtime/types.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tesela {

/// One entry (row, column) that becomes zero by a transformation of rows `pivot` and `row`. Rows and columns count from
/// 0, stages from 1; those of one stage are independent.
struct Elimination {
  index_t row = 0, column = 0, pivot = 0, stage = 0;
  friend bool operator==(const Elimination&, const Elimination&) = default;
};

/// An order in which the entries of an m x n matrix (or its tiles) below the diagonal become zero.
struct Schedule {
  std::string order;
  index_t m = 0, n = 0;
  /// The row that ends as row of R of each column: column j eliminates the rows below heads[j]. heads[j] = j for
  /// matrices and square tiles; tall tiles keep one head for several columns.
  std::vector<index_t> heads;
  std::vector<Elimination> eliminations;  ///< by stage, then by column, then by row
  index_t stages() const { return eliminations.empty() ? 0 : eliminations.back().stage; }
};

/// The names that make_schedule takes; `domain` stands for `domain:D` with any D >= 1.
const std::vector<std::string>& schedule_orders();

Schedule make_schedule(std::string_view order, index_t m, index_t n, std::vector<index_t> heads = {});

/// An order whose stages are a formula, for matrices too large for a list: with indices from 1,
/// stage(i, j) = constant + per_row i + per_column j, and the pivot is row i - 1 (adjacent) or row j.
struct ClosedForm {
  index_t constant = 0, per_row = 0, per_column = 0;
  bool adjacent = true;
};

/// The closed form of this order for m rows, if it has one.
std::optional<ClosedForm> closed_form(std::string_view order, index_t m);

/// What is illegal about a schedule, in words with indices from 1; nothing when it is legal.
std::optional<std::string> violation(const Schedule& schedule);

}  // namespace tesela
