#include "cli/app/options.hpp"

namespace tesela::cli {

CLI::Option* add_input(CLI::App& app, const std::string& option, std::string& path, const std::string& about) {
  return app.add_option(option, path, about)->type_name("FILE");
}

CLI::Option* add_random(CLI::App& app, std::string& kind, const std::string& kinds) {
  return app.add_option("--random", kind, kinds)->type_name("KIND")->capture_default_str();
}

CLI::Option* add_tile(CLI::App& app, std::string& tile, const std::string& form, const std::string& about) {
  return app.add_option("-t,--tile", tile, form + " (" + about + ")")->type_name("TILE");
}

}  // namespace tesela::cli
