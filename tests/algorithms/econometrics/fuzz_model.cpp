// libFuzzer target for model formulas; scripts/fuzz builds and runs it.

#include <tesela/algorithms/econometrics/model_formulas.hpp>
#include <tesela/runtime/errors.hpp>

#include <cstdint>
#include <cstdlib>
#include <string>

using namespace tesela;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

/// Returns the terms as text that must parse to the same terms; "0" first, since a model has an intercept by default.
std::string written(const std::vector<ModelTerm>& terms) {
  std::string text = "0";
  for (const ModelTerm& term : terms) text += " + " + (term.text == intercept_name ? "1" : term.text);
  return text;
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer requires this name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const ModelFormulas model = parse_model({reinterpret_cast<const char*>(data), size}, "fuzz");
    require(!model.equations.empty());
    for (const EquationFormula& e : model.equations) {
      require(!e.regressors.empty() && !e.dependent.steps.empty());
      const ModelFormulas again = parse_model(e.dependent.text + " ~ " + written(e.regressors), "written");
      require(again.equations.size() == 1 && again.equations[0].regressors.size() == e.regressors.size());
      for (std::size_t k = 0; k < e.regressors.size(); ++k)
        require(again.equations[0].regressors[k].text == e.regressors[k].text);
    }
  } catch (const FileError& error) {
    require(std::string(error.what()).starts_with("fuzz: "));  // text written from a parsed model must be accepted
  }
  return 0;
}
