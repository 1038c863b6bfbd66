#include <tesela/algorithms/econometrics/internal/formula_columns.hpp>
#include <tesela/algorithms/econometrics/model_formulas.hpp>

#include <algorithm>
#include <set>
#include <utility>

namespace tesela::formulas {
namespace {

constexpr double most_columns = 1e6;
// Separators of keys, which texts do not contain.
constexpr char between_pieces = '\x1f', before_level = '\x1e';

bool contains(const Term& all, const Term& part) {
  return std::includes(all.begin(), all.end(), part.begin(), part.end());
}

/// Returns whether a variable of term j has all its levels: no earlier term contains the rest of the term.
bool has_all_levels(const std::vector<Term>& terms, std::size_t j, index_t variable) {
  Term rest = terms[j];
  rest.erase(std::find(rest.begin(), rest.end(), variable));
  if (rest.empty()) return false;
  return std::none_of(terms.begin(), terms.begin() + static_cast<std::ptrdiff_t>(j),
                      [&](const Term& earlier) { return contains(earlier, rest); });
}

DesignColumn product(const DesignColumn& a, const DesignColumn& b) {
  DesignColumn both = a;
  both.name.append(a.pieces.empty() ? "" : ":").append(b.name);
  both.key.append(a.pieces.empty() ? "" : std::string(1, between_pieces)).append(b.key);
  both.pieces.insert(both.pieces.end(), b.pieces.begin(), b.pieces.end());
  return both;
}

}  // namespace

DesignColumn plain_column(index_t variable, const std::string& name) { return {name, name, {{variable, 0, -1}}}; }

std::vector<DesignColumn> design_columns(const Terms& terms, const Factors& factors,
                                         const std::vector<Variable>& variables, std::vector<UsedLevels>& used,
                                         const std::string& source) {
  std::vector<DesignColumn> all;
  std::set<std::string> keys;
  if (terms.intercept) all.push_back({intercept_name, {}, {}});
  bool base_needed = terms.intercept;  // false: the first factor replaces the intercept
  for (std::size_t j = 0; j < terms.terms.size(); ++j) {
    std::vector<DesignColumn> columns{{}};  // of the variables so far
    for (const index_t number : terms.terms[j]) {
      const Variable& variable = variables[static_cast<std::size_t>(number)];
      std::vector<DesignColumn> own;
      if (variable.levels.empty()) {
        for (std::size_t c = 0; c < variable.columns.size(); ++c)
          own.push_back({variable.names[c], variable.names[c], {{number, static_cast<index_t>(c), -1}}});
      } else {
        UsedLevels& levels = used[static_cast<std::size_t>(number)];
        const bool complete = !base_needed || has_all_levels(terms.terms, j, number);
        base_needed = true;
        if (!complete && levels.levels.size() == 1)
          fail_at(source, factors[number].place,
                  variable.text + " has the one level " + variable.levels[static_cast<std::size_t>(levels.levels[0])] +
                      " in the rows of the model, and contrasts need two");
        levels.contrasted = levels.contrasted || !complete;
        for (const index_t level : levels.levels) {
          if (!complete && level == levels.base) continue;
          const std::string& text = variable.levels[static_cast<std::size_t>(level)];
          own.push_back({variable.text + text, variable.text + before_level + text, {{number, 0, level}}});
        }
      }
      if (static_cast<double>(own.size()) * static_cast<double>(columns.size()) + static_cast<double>(all.size()) >
          most_columns)
        fail_at(source, factors[number].place,
                "more than 1000000 columns; " + variable.text + " has " + std::to_string(own.size()));
      std::vector<DesignColumn> products;
      for (const DesignColumn& b : own)
        for (const DesignColumn& a : columns) products.push_back(product(a, b));
      columns = std::move(products);
    }
    for (DesignColumn& column : columns)
      if (keys.insert(column.key).second) all.push_back(std::move(column));
  }
  return all;
}

}  // namespace tesela::formulas
