#pragma once

#include <tesela/algorithms/econometrics/internal/formula_columns.hpp>
#include <tesela/algorithms/econometrics/model_data.hpp>

#include <string>
#include <vector>

namespace tesela::formulas {

/// The terms of a model's equations on a table's names.
class ExpandedModel {
 public:
  /// Expands formulas for a method. Throws FileError as load_model().
  ExpandedModel(const ModelFormulas& formulas, const TableSource& table, SemMethod method);

  const Factors& factors() const { return factors_; }
  std::vector<std::string> labels() const;
  /// Returns whether all terms are columns of the table.
  bool is_plain() const;
  /// Returns whether terms or dependent variables contain a factor. (A minus may have removed it.)
  std::vector<bool> needed() const;
  /// Returns whether a factor is the dependent variable of an equation, which must be numbers.
  bool is_dependent(index_t factor) const;

  /// Returns the model on `columns`, which it appends: first the instruments, then the other variables.
  SimultaneousModel compile(const std::vector<Variable>& variables, std::vector<UsedLevels>& used,
                            std::vector<DesignColumn>& columns) const;

 private:
  struct OneEquation {
    std::string label;
    index_t dependent;
    TextPlace place;
    Terms regressors, instruments;
    bool own_instruments;
  };
  /// Calls use(terms) for all terms of the model.
  template <class Use>
  void for_each_terms(const Use& use) const {
    use(instruments_);
    for (const OneEquation& e : equations_) use(e.regressors), use(e.instruments);
  }

  std::string source_;
  Factors factors_;
  std::vector<OneEquation> equations_;
  Terms instruments_;
  bool instrumental_ = false, has_instruments_ = false;
};

}  // namespace tesela::formulas
