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

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer requires this name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try {
    const ModelFormulas model = parse_model({reinterpret_cast<const char*>(data), size}, "fuzz");
    require(!model.equations.empty());
    for (const EquationFormula& e : model.equations) {
      // The text of a tree is the text of the tree that it parses to.
      const std::string text = text_of(e.dependent) + " ~ " + text_of(e.regressors);
      const ModelFormulas again = parse_model("label: " + text, "written");
      require(again.equations.size() == 1 && !again.equations[0].instruments);
      require(text_of(again.equations[0].dependent) + " ~ " + text_of(again.equations[0].regressors) == text);
    }
  } catch (const FileError& error) {
    // Text that is written from a model must be accepted, unless its parentheses are too deep.
    const std::string problem = error.what();
    require(problem.starts_with("fuzz: ") || problem.find("too many nested") != std::string::npos);
  }
  return 0;
}
