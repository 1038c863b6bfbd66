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
      const ModelFormulas again = parse_model(text, "written");
      require(again.equations.size() == 1 && !again.equations[0].instruments);
      require(text_of(again.equations[0].dependent) + " ~ " + text_of(again.equations[0].regressors) == text);
    }
  } catch (const FileError& error) {
    require(std::string(error.what()).starts_with("fuzz: "));  // text written from a parsed model must be accepted
  }
  return 0;
}
