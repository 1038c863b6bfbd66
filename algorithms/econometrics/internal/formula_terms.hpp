#pragma once

#include <tesela/algorithms/econometrics/formula_expression.hpp>

#include <map>
#include <string>
#include <vector>

namespace tesela::formulas {

/// The distinct factors of all formulas of a model, in the order of their first occurrence.
class Factors {
 public:
  /// Returns the number of a factor; equal texts are one factor.
  index_t number(const Expression& factor);
  const Expression& operator[](index_t number) const { return all_[static_cast<std::size_t>(number)]; }
  index_t size() const { return static_cast<index_t>(all_.size()); }

 private:
  std::vector<Expression> all_;
  std::map<std::string, index_t> numbers_;
};

/// A product of factors: their numbers, ascending.
using Term = std::vector<index_t>;

/// The right-hand side of a formula as a sum of terms, by degree and within a degree in their order in the formula.
struct Terms {
  bool intercept = true;
  std::vector<Term> terms = {};
};

/// Expands a formula as R's terms(): + - * : / %in% ^ ( and . mean sets of terms, 0 and 1 the intercept; any other call
/// or name is a factor.
///
/// others   columns that . means.
/// Throws   FileError, with the place, for a number or text as a term, a power that is no whole number from 1 to 100,
///          and more than 100 000 terms.
Terms expand(const Expression& formula, const std::vector<std::string>& others, Factors& factors,
             const std::string& source);

}  // namespace tesela::formulas
