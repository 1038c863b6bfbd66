#pragma once

#include <tesela/runtime/types.hpp>

#include <string>
#include <vector>

namespace tesela::formulas {

/// The values of an expression in all rows of a table: numbers or levels of a factor.
struct Values {
  std::vector<double> x = {};            ///< numbers, or the numbers of levels, from 0; one element: a constant
  std::vector<bool> missing = {};        ///< rows that lack a value; empty: none
  std::vector<std::string> levels = {};  ///< names of the levels, in their order; empty: numbers
  bool logical = false;                  ///< whether the levels are FALSE and TRUE, with the numbers 0 and 1
  index_t base = -1;                     ///< level of a named base; -1: the first level in use

  bool is_missing(std::size_t row) const { return !missing.empty() && missing[row]; }
  bool numeric() const { return levels.empty() || logical; }
};

/// Returns numbers; NaN are missing.
Values numbers_of_column(const std::vector<double>& column);

/// Returns a factor from numbers of texts; NaN are missing. Texts such as TRUE and false make a logical
/// factor. Unless the texts are `ordered`, numbers are sorted by value, and equal ones merged, and other texts by their
/// bytes.
Values factor_of_column(const std::vector<double>& column, const std::vector<std::string>& texts, bool ordered);

/// Returns logical values.
Values logical_of(std::vector<double> x, std::vector<bool> missing);

/// Returns a factor whose levels are the distinct numbers; factors do not change.
Values factor_of(Values values);

/// Returns the factor with these levels alone, in this order; other levels become missing.
Values with_levels(const Values& factor, const std::vector<std::string>& levels);

/// Returns the number of a level by its name, or by its value for names that are numbers; -1 without.
index_t level_number(const Values& factor, const std::string& name);

/// Returns the levels between commas, the first five.
std::string some_of(const std::vector<std::string>& names);

/// Returns "did you mean rooms? " for a name that differs from one of `names` by letter case and one letter at most;
/// otherwise an empty text.
std::string similar_name(const std::vector<std::string>& names, const std::string& name);

}  // namespace tesela::formulas
