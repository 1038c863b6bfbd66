#include "tools/app/outputs.hpp"

#include "tools/app/standard_streams.hpp"
#include "tools/app/trace_report.hpp"
#include <tesela/runtime/require.hpp>
#include <tesela/tiles/io/arrays.hpp>
#include <tesela/tiles/io/file_formats.hpp>
#include <tesela/tiles/io/streams.hpp>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <map>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>

namespace tesela::cli {
namespace {

namespace fs = std::filesystem;

struct Declared {
  Output kind;
  std::string name;
  std::function<std::vector<std::string>()> paths;
};

std::map<const App*, std::vector<Declared>>& registry() {
  static std::map<const App*, std::vector<Declared>> all;
  return all;
}

struct Read {
  std::string name;
  std::function<std::vector<std::string>()> paths;
};

std::map<const App*, std::vector<Read>>& inputs() {
  static std::map<const App*, std::vector<Read>> all;
  return all;
}

/// An output of the command line.
struct Place {
  Output kind;
  std::string name, given;
  fs::path path;  ///< equal for two names of one file
};

/// Returns the path of a folder, which need not exist, without symbolic links; an empty path is the current folder.
fs::path folder_at(const fs::path& folder) {
  std::error_code error;  // the current folder may have been removed
  const fs::path here = folder.is_absolute() ? folder : fs::current_path(error) / folder;
  const fs::path result = fs::weakly_canonical(here, error);
  const fs::path normal = (error ? here : result).lexically_normal();
  return normal.has_filename() ? normal : normal.parent_path();
}

/// Returns the replaced file; nothing for a file that is written directly, such as standard output.
std::optional<fs::path> place_of(Output kind, const std::string& given) {
  if (kind == Output::trace) return folder_at(given);
  if (kind == Output::report && given == "-") return std::nullopt;
  const std::optional<std::string> file = destination_file(given);
  if (!file) return std::nullopt;
  const fs::path path(*file);
  return folder_at(path.parent_path()) / path.filename();
}

bool is_printed(Output kind, const std::string& path) {
  return kind != Output::trace && ((kind == Output::report && path == "-") || is_standard_output(path));
}

/// Throws FileError for a name that promises another format than SVG, such as x.png.
void require_picture_name(const std::string& path) {
  std::string extension = fs::path(path).extension().string();
  std::ranges::transform(extension, extension.begin(), [](unsigned char c) { return std::tolower(c); });
  if (!extension.empty() && extension != ".svg")
    throw FileError(path, "the picture is SVG: give the file the extension .svg");
}

void require_possible(Output kind, const std::string& path) {
  if (kind == Output::trace || (kind == Output::report && path == "-")) return;
  if (kind == Output::matrix) return require_writable(path);
  if (kind == Output::array) require_array_name(path);
  require_creatable(path);
}

/// Returns whether both are the same regular file.
bool same_file(const struct stat& a, const struct stat& b) {
  return S_ISREG(a.st_mode) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

bool takes_standard_output(const fs::path& file) {
  struct stat ours {
  }, standard{};
  return fstat(STDOUT_FILENO, &standard) == 0 && stat(file.c_str(), &ours) == 0 && same_file(ours, standard);
}

bool are_hard_links(const fs::path& a, const fs::path& b) {
  struct stat first {
  }, second{};
  return stat(a.c_str(), &first) == 0 && stat(b.c_str(), &second) == 0 && same_file(first, second);
}

/// Returns whether the file is in the way of the folder, or has the name of a file that will be in it.
bool hinders(const fs::path& file, const fs::path& folder) {
  for (fs::path above = folder; above != above.parent_path(); above = above.parent_path())
    if (above == file) return true;
  return file.parent_path() == folder && is_trace_file(file.filename().string());
}

bool clash(const Place& a, const Place& b) {
  if (a.kind == Output::trace && b.kind != Output::trace) return hinders(b.path, a.path);
  if (b.kind == Output::trace && a.kind != Output::trace) return hinders(a.path, b.path);
  return a.path == b.path || (a.kind != Output::trace && are_hard_links(a.path, b.path));
}

/// Returns the command's inputs by path.
std::map<fs::path, Place> places_read(const App& app) {
  std::map<fs::path, Place> read;
  for (const Read& declared : inputs()[&app])
    for (const std::string& path : declared.paths())
      if (const auto place = path.empty() ? std::nullopt : place_of(Output::matrix, path))
        read.insert({*place, {Output::matrix, declared.name, path, *place}});
  return read;
}

/// Throws if `output` would replace one of these inputs.
void require_not_input(const App& app, const std::map<fs::path, Place>& read, const Place& output) {
  const auto refuse = [&](const Place& input) {
    throw ArgumentError(command_name(app), output.name,
                        output.given + " would replace " + input.given + ", which " + input.name + " reads");
  };
  if (const auto found = read.find(output.path); found != read.end()) refuse(found->second);
  if (output.kind != Output::trace) return;
  for (const auto& [path, input] : read)
    if (clash(output, input)) refuse(input);
}

}  // namespace

Option* add_output(App& app, Output kind, const std::string& option, std::string& path, const std::string& about) {
  declare_outputs(app, kind, option.substr(option.find("--")), [&path] { return std::vector{path}; });
  Option* const added = app.add_option(option, path, about)->type_name(kind == Output::trace ? "DIR" : "FILE");
  return kind == Output::trace || kind == Output::report ? added : added->transform(dash_is("/dev/stdout"));
}

void declare_outputs(App& app, Output kind, const std::string& name, std::function<std::vector<std::string>()> paths) {
  registry()[&app].push_back({kind, name, std::move(paths)});
}

void protect_inputs(App& app, const std::string& name, std::function<std::vector<std::string>()> paths) {
  inputs()[&app].push_back({name, std::move(paths)});
}

bool writes_to_standard_output(const App& app) {
  for (const Declared& declared : registry()[&app])
    for (const std::string& path : declared.paths())
      if (declared.kind != Output::report && is_printed(declared.kind, path)) return true;
  return false;
}

void require_outputs(const App& app) {
  std::vector<Place> places;
  std::string printed;                            // the option whose output goes to standard output
  std::optional<std::map<fs::path, Place>> read;  // inputs are listed only if there are outputs
  for (const Declared& declared : registry()[&app])
    for (const std::string& path : declared.paths()) {
      if (path.empty()) continue;
      require(declared.kind != Output::trace || path != "-", command_name(app), declared.name,
              "- is standard output, and a trace needs a folder");
      if (declared.name == "--svg") require_picture_name(path);
      require_possible(declared.kind, path);
      if (is_printed(declared.kind, path)) {
        require(printed.empty(), command_name(app), declared.name, "and ", printed,
                " are both standard output: name a file for the first or the second");
        printed = declared.name;
      }
      const std::optional<fs::path> place = place_of(declared.kind, path);
      if (!place) continue;
      const Place here{declared.kind, declared.name, path, *place};
      if (!read) read = places_read(app);
      require_not_input(app, *read, here);
      for (const Place& other : places)
        require(!clash(here, other), command_name(app), here.name, path, " and ", other.given, " of ", other.name,
                " are in one place, and one would be lost");
      require(!(takes_standard_output(*place)), command_name(app), here.name, path,
              " is the file that standard output goes to");
      places.push_back(here);
    }
}

}  // namespace tesela::cli
