#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace tesela::cli {

enum class Output : std::uint8_t {
  matrix,  ///< in a format of file_formats.hpp
  text,    ///< of any name
  trace,   ///< a folder for what a traced Runtime leaves
  array,   ///< NumPy's alone (arrays.hpp)
  report,  ///< text; "-" prints it on standard output
};

/// Adds an option ("-o,--out") that names something the command writes (nothing while it is empty); "-" becomes
/// /dev/stdout, but for a report. Before the command begins, require_outputs() checks all that were declared so.
CLI::Option* add_output(CLI::App& app, Output kind, const std::string& option, std::string& path,
                        const std::string& about);

/// The same for outputs whose paths follow from other options: `paths` is asked once those are parsed, `name` stands
/// for them in messages.
void declare_outputs(CLI::App& app, Output kind, const std::string& name,
                     std::function<std::vector<std::string>()> paths);

/// Inputs that no output of the command may replace; `paths` and `name` as for outputs.
void keep_inputs(CLI::App& app, const std::string& name, std::function<std::vector<std::string>()> paths);

/// Throws the error that writing an output of the command would meet. Throws ArgumentError if two outputs are one file
/// (by symbolic or hard links too) or both standard output, or if an output is the file that standard output goes to.
/// An output may replace an input, which is read before, except the inputs of keep_inputs(). Special
/// files, as /dev/null, may be named more than once.
void require_outputs(const CLI::App& app);

}  // namespace tesela::cli
