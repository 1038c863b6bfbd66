#include "tools/problems/support/factor_notes.hpp"

namespace tesela::cli {

void note_factors(const std::vector<FactorBase>& factors, Report& report) {
  nlohmann::json all = nlohmann::json::array();
  for (const FactorBase& one : factors) {
    all.push_back({{"factor", one.factor}, {"base", one.base}, {"levels", one.levels}});
    report.note(one.factor + ": contrasts to " + one.base);
  }
  if (!all.empty()) report.section("factors", all);
}

}  // namespace tesela::cli
