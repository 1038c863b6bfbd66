#include "tools/app/options.hpp"

#include "tools/app/streams.hpp"
#include <tesela/runtime/errors.hpp>

#include <map>
#include <vector>

namespace tesela::cli {
namespace {

constexpr const char* standard_input = "/dev/stdin";

std::map<const App*, std::vector<const Option*>>& inputs() {
  static std::map<const App*, std::vector<const Option*>> all;
  return all;
}

}  // namespace

Option* add_input(App& app, const std::string& option, std::string& path, const std::string& about) {
  Option* const added = app.add_option(option, path, about)->type_name("FILE")->transform(dash_is(standard_input));
  inputs()[&app].push_back(added);
  return added;
}

Check dash_is(const std::string& stream) {
  return {[stream](std::string& text) {
            if (text == "-") text = stream;
            return std::string();
          },
          ""};
}

void require_inputs(const App& app) {
  const Option* first = nullptr;
  for (const Option* input : inputs()[&app]) {
    if (input->count() == 0 || input->value() != standard_input) continue;
    if (first != nullptr)
      throw ArgumentError(command_name(app), input->get_name(),
                          "and " + first->get_name() + " are both standard input: name a file for one of them");
    first = input;
  }
}

Option* add_random(App& app, std::string& kind, const std::string& kinds) {
  return app.add_option("--random", kind, kinds)->type_name("KIND")->capture_default_str();
}

Option* add_tile(App& app, std::string& tile, const std::string& form, const std::string& about) {
  return app.add_option("-t,--tile", tile, form + " (" + about + ")")->type_name("TILE");
}

}  // namespace tesela::cli
