#pragma once

#include "tools/app/arguments.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tesela::cli {

enum class Output : std::uint8_t {
  matrix,  ///< in a format of file_formats.hpp
  text,    ///< a file of any name
  trace,   ///< a folder for a Runtime's trace
  array,   ///< NumPy only (arrays.hpp)
  report,  ///< text; "-" prints it on standard output
};

/// Adds an option ("-o,--out") for a file or folder that the command writes; an empty path means none. "-" becomes
/// /dev/stdout, except for a report. require_outputs() checks all declared outputs before the command begins.
Option* add_output(App& app, Output kind, const std::string& option, std::string& path, const std::string& about);

/// Declares outputs whose paths follow from other options: calls `paths` after parsing; messages use `name`.
void declare_outputs(App& app, Output kind, const std::string& name, std::function<std::vector<std::string>()> paths);

/// Declares inputs that no output of the command may replace; `paths` and `name` as for outputs.
void protect_inputs(App& app, const std::string& name, std::function<std::vector<std::string>()> paths);

/// Throws the error that writing an output of the command would cause. Throws ArgumentError if two outputs are one file
/// (also through links) or both standard output, or if an output is the file that standard output is redirected to. An
/// output may replace an input, which is read earlier, except the inputs of protect_inputs(). Special files, such as
/// /dev/null, may occur several times.
void require_outputs(const App& app);

}  // namespace tesela::cli
