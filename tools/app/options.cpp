#include "tools/app/options.hpp"

#include "tools/app/streams.hpp"
#include <tesela/runtime/errors.hpp>

#include <map>
#include <vector>

namespace tesela::cli {
namespace {

constexpr const char* standard_input = "/dev/stdin";

std::map<const CLI::App*, std::vector<const CLI::Option*>>& inputs() {
  static std::map<const CLI::App*, std::vector<const CLI::Option*>> all;
  return all;
}

}  // namespace

std::string command_name(const CLI::App& app) {
  const CLI::App* const parent = app.get_parent();
  return parent == nullptr || parent->get_parent() == nullptr ? app.get_name()
                                                              : command_name(*parent) + " " + app.get_name();
}

CLI::Option* add_input(CLI::App& app, const std::string& option, std::string& path, const std::string& about) {
  CLI::Option* const added = app.add_option(option, path, about)->type_name("FILE")->transform(dash_is(standard_input));
  inputs()[&app].push_back(added);
  return added;
}

CLI::Validator dash_is(const std::string& stream) {
  return {[stream](std::string& text) {
            if (text == "-") text = stream;
            return std::string();
          },
          ""};
}

void require_inputs(const CLI::App& app) {
  const CLI::Option* first = nullptr;
  for (const CLI::Option* input : inputs()[&app]) {
    if (input->count() == 0 || input->as<std::string>() != standard_input) continue;
    if (first != nullptr)
      throw ArgumentError(command_name(app), input->get_name(),
                          "and " + first->get_name() + " are both standard input: name a file for one of them");
    first = input;
  }
}

CLI::Option* add_random(CLI::App& app, std::string& kind, const std::string& kinds) {
  return app.add_option("--random", kind, kinds)->type_name("KIND")->capture_default_str();
}

CLI::Option* add_tile(CLI::App& app, std::string& tile, const std::string& form, const std::string& about) {
  return app.add_option("-t,--tile", tile, form + " (" + about + ")")->type_name("TILE");
}

}  // namespace tesela::cli
