#pragma once

#include "tools/app/arguments.hpp"

#include <string>

namespace tesela::cli {

/// Adds an option for an input file; "-" becomes /dev/stdin.
Option* add_input(App& app, const std::string& option, std::string& path, const std::string& about);

/// Adds --random KIND; `kinds` lists the kinds.
Option* add_random(App& app, std::string& kind, const std::string& kinds);

/// Adds -t, --tile; `form` is its syntax, such as "MB or MBxNB".
Option* add_tile(App& app, std::string& tile, const std::string& form,
                 const std::string& about = "default: suits the workers");

/// Adds an earlier name of an option for existing scripts: it is not in the help, and an error together with the
/// present name.
template <class V>
Option* add_deprecated_alias(App& app, const std::string& name, V& value, Option* now) {
  return app.add_option(name, value)->replaced_by(now);
}

}  // namespace tesela::cli
