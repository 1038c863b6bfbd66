#pragma once

#include <CLI/CLI.hpp>

#include <string>

namespace tesela::cli {

/// Adds an option that names a file that the command reads; "-" becomes /dev/stdin.
CLI::Option* add_input(CLI::App& app, const std::string& option, std::string& path, const std::string& about);

/// Adds --random KIND; `kinds` says which there are.
CLI::Option* add_random(CLI::App& app, std::string& kind, const std::string& kinds);

/// Adds -t, --tile; `form` is what it takes, "MB or MBxNB".
CLI::Option* add_tile(CLI::App& app, std::string& tile, const std::string& form,
                      const std::string& about = "default: what suits the workers");

/// An earlier name of an option, which scripts may have: works as it did, and stands in no help.
/// Refused beside the present one.
template <class V>
CLI::Option* add_earlier_name(CLI::App& app, const std::string& name, V& value, CLI::Option* now) {
  return app.add_option(name, value)->group("")->check([name, now](const std::string&) -> std::string {
    if (now->count() == 0) return {};
    throw CLI::ValidationError(name, "is an earlier name of " + now->get_name() + ": give one of them");
  });
}

}  // namespace tesela::cli
