#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace tesela::cli {

/// Adds an option for an input file; "-" becomes /dev/stdin.
CLI::Option* add_input(CLI::App& app, const std::string& option, std::string& path, const std::string& about);

/// Adds --random KIND; `kinds` lists the kinds.
CLI::Option* add_random(CLI::App& app, std::string& kind, const std::string& kinds);

/// Adds -t, --tile; `form` is its syntax, such as "MB or MBxNB".
CLI::Option* add_tile(CLI::App& app, std::string& tile, const std::string& form,
                      const std::string& about = "default: suits the workers");

/// Adds an earlier name of an option for existing scripts: it is not in the help, and an error together with the
/// present name.
template <class V>
CLI::Option* add_deprecated_alias(CLI::App& app, const std::string& name, V& value, CLI::Option* now) {
  return app.add_option(name, value)->group("")->check([name, now](const std::string&) -> std::string {
    if (now->count() == 0) return {};
    throw CLI::ValidationError(name, "is an earlier name of " + now->get_name() + ": give one of them");
  });
}

}  // namespace tesela::cli
