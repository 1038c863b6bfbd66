#include "tools/app/arguments.hpp"

#include "tools/app/choices.hpp"
#include "tools/app/numbers.hpp"
#include "tools/app/standard_streams.hpp"
#include <tesela/runtime/errors.hpp>
#include <tesela/tiles/io/file_formats.hpp>
#include <tesela/tiles/io/mapped_file.hpp>
#include <tesela/tiles/io/matrix_market.hpp>
#include <tesela/tiles/size_checks.hpp>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

namespace tesela::cli {
namespace {

CLI::Validator validator(const Check& check) { return {check.error, check.about}; }

constexpr const char* standard_input = "/dev/stdin";

std::vector<std::string>& names_of_inputs() {
  static std::vector<std::string> names;
  return names;
}

std::map<const App*, std::vector<const Option*>>& inputs() {
  static std::map<const App*, std::vector<const Option*>> all;
  return all;
}

/// Returns the header of a Matrix Market coordinate file; nothing for other files, also unreadable ones, which the
/// command reports.
std::optional<MatrixFileInfo> coordinate_file(const std::string& path) {
  try {
    if (!std::filesystem::is_regular_file(path)) return std::nullopt;
    const MappedFile mapped(path);
    if (!matrix_market::recognise(mapped.bytes())) return std::nullopt;
    const MatrixFileInfo file = probe_matrix_bytes(mapped.bytes(), path);
    if (file.format == MatrixFileFormat::matrix_market_coordinate) return file;
  } catch (const Error&) {
  }
  return std::nullopt;
}

}  // namespace

Check one_of(std::vector<std::string> values) {
  const CLI::IsMember member(values);
  return {[values](std::string& text) {
            if (std::ranges::find(values, text) != values.end()) return std::string();
            return fmt::format("'{}' is none of {}", text, fmt::join(values, ", "));
          },
          member.get_description()};
}

Check ends_with(std::vector<std::string> endings, std::string what, bool or_no_ending) {
  return {[endings = std::move(endings), what = std::move(what), or_no_ending](std::string& path) {
            const auto fits = [&path](const std::string& ending) { return path.ends_with(ending); };
            if (or_no_ending && !std::filesystem::path(path).has_extension()) return std::string();
            std::error_code ignored;
            if (std::ranges::any_of(endings, fits) || path.empty() || path == "-" || path.starts_with("/dev/") ||
                std::filesystem::is_fifo(path, ignored))
              return std::string();
            return fmt::format("'{}': {} ends in {}", path, what, fmt::join(endings, " or "));
          },
          ""};
}

Option* Option::show_default() { return option_->capture_default_str(), this; }
Option* Option::check(const Check& check) { return option_->check(validator(check)), this; }
Option* Option::default_str(const std::string& text) { return option_->default_str(text), this; }
Option* Option::delimiter(char separator) { return option_->delimiter(separator), this; }
Option* Option::excludes(Option* other) { return option_->excludes(other->option_), this; }
Option* Option::expected(int least, int most) { return option_->expected(least, most), this; }
Option* Option::group(const std::string& name) { return option_->group(name), this; }
Option* Option::needs(Option* other) { return option_->needs(other->option_), this; }
Option* Option::required() { return option_->required(), this; }
Option* Option::positive() { return transform(cli::positive()); }
Option* Option::non_negative() { return transform(cli::non_negative()); }
Option* Option::transform(const Check& check) { return option_->transform(validator(check)), this; }
Option* Option::type_name(const std::string& name) { return option_->type_name(name), this; }

Option* Option::replaced_by(Option* now) {
  option_->check([name = get_name(), now](const std::string&) -> std::string {
    if (now->count() == 0) return {};
    throw CLI::ValidationError(name, "is an earlier name of " + now->get_name() + ": give one of them");
  });
  option_->group("");  // without a group it has no name
  return this;
}

Option* Option::generates() { return generates_ = true, this; }

Option* Option::belongs_to_files(std::vector<std::string> unless, std::string way, std::function<bool()> wanted) {
  unless_ = std::move(unless), way_ = std::move(way);
  wanted_ = wanted ? std::move(wanted) : [] { return true; };
  return this;
}

Option* Option::may_stay_sparse() { return sparse_ = true, this; }

bool Option::is_required() const { return option_->get_required(); }
std::size_t Option::count() const { return option_->count(); }
std::string Option::value() const { return option_->as<std::string>(); }
std::string Option::get_name() const { return option_->get_name(); }

template <class T>
Option* App::add_option(const std::string& name, T& value, const std::string& about) {
  return &options_.emplace_back(*app_->add_option(name, value, about));
}

Option* App::add_flag(const std::string& name, bool& value, const std::string& about) {
  return &options_.emplace_back(*app_->add_flag(name, value, about));
}

Option* App::get_option(const std::string& name) { return &options_.emplace_back(*app_->get_option(name)); }

std::size_t App::count(const std::string& name) const {
  const CLI::Option* const option = app_->get_option_no_throw(name);
  return option == nullptr ? 0 : option->count();
}

bool App::has_option(const std::string& name) const { return app_->get_option_no_throw(name) != nullptr; }

bool App::generates() const {
  return std::any_of(options_.begin(), options_.end(),
                     [](const Option& option) { return option.is_generator() && option.count() > 0; });
}

void App::footer(const std::string& text) { app_->footer(text); }

std::string command_name(const CLI::App& app) {
  const CLI::App* const parent = app.get_parent();
  return parent == nullptr || parent->get_parent() == nullptr ? app.get_name()
                                                              : command_name(*parent) + " " + app.get_name();
}

std::string command_name(const App& app) { return command_name(*app.app_); }

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

const std::vector<std::string>& given_inputs() { return names_of_inputs(); }

void require_inputs(const App& app) {
  const Option* first = nullptr;
  names_of_inputs().clear();
  for (const Option* input : inputs()[&app]) {
    if (input->count() == 0) continue;
    names_of_inputs().push_back(input->value());
    if (input->value() != standard_input) continue;
    if (first != nullptr)
      throw ArgumentError(command_name(app), input->get_name(),
                          "and " + first->get_name() + " are both standard input: name a file for one of them");
    first = input;
  }
}

void require_problem(const App& app) {
  if (inputs()[&app].empty() || command_name(app).starts_with("bench ")) return;
  if (!given_inputs().empty())
    for (const Option* input : inputs()[&app])
      if (input->wanted_ && input->count() == 0 && input->wanted_() &&
          std::ranges::none_of(input->unless_, [&app](const std::string& name) { return app.count(name) > 0; }))
        throw ArgumentError(command_name(app), input->get_name(), "is missing: name its file, or " + input->way_);
  if (!given_inputs().empty() || app.generates()) return;
  for (const Option* input : inputs()[&app])
    if (input->is_required()) return;
  std::string ways, generators;
  if (app.has_option("data"))
    ways = fmt::format(", give a table and a formula, as in `tesela {} data.csv \"y ~ x1 + x2\"`", command_name(app));
  for (const char* name : {"--n", "--nt", "--samples", "--random"})
    if (app.has_option(name)) generators += fmt::format("{}{}", generators.empty() ? "" : " or ", name);
  if (!generators.empty()) ways += ", or generate a problem by " + generators;
  throw ArgumentError(command_name(app), inputs()[&app].front()->get_name(), "no input: name a file" + ways);
}

bool has_coordinate_input() {
  const auto& given = given_inputs();
  return std::any_of(given.begin(), given.end(), [](const std::string& path) { return coordinate_file(path); });
}

void announce_dense_input(const std::string& path) {
  constexpr double large = 64.0 * 1024 * 1024, gib = 1024.0 * 1024 * 1024;
  const auto file = coordinate_file(path);
  if (!file) return;
  const double bytes = 8.0 * static_cast<double>(file->shape.rows) * static_cast<double>(file->shape.cols);
  if (bytes < large) return;
  print_error(fmt::format("tesela: note: {} lists {} entries, and is read as a dense matrix of {}: {:.2f} GiB", path,
                          file->entries, to_string(file->shape), bytes / gib));
}

void announce_dense_inputs(const App& app) {
  if (app.count("--quiet") > 0) return;
  for (const Option* input : inputs()[&app])
    if (input->count() > 0 && !input->stays_sparse()) announce_dense_input(input->value());
}

Option* add_random(App& app, std::string& kind, const std::string& kinds) {
  return app.add_option("--random", kind, kinds)->type_name("KIND")->show_default()->generates();
}

Option* add_tile(App& app, std::string& tile, const std::string& form, const std::string& about) {
  return app.add_option("-t,--tile", tile, form + " (" + about + ")")->type_name("TILE");
}

template Option* App::add_option(const std::string&, std::string&, const std::string&);
template Option* App::add_option(const std::string&, int&, const std::string&);
template Option* App::add_option(const std::string&, std::int64_t&, const std::string&);
template Option* App::add_option(const std::string&, std::uint64_t&, const std::string&);
template Option* App::add_option(const std::string&, long long&, const std::string&);
template Option* App::add_option(const std::string&, double&, const std::string&);
template Option* App::add_option(const std::string&, std::optional<double>&, const std::string&);
template Option* App::add_option(const std::string&, std::vector<std::string>&, const std::string&);
template Option* App::add_option(const std::string&, std::vector<int>&, const std::string&);
template Option* App::add_option(const std::string&, std::vector<std::int64_t>&, const std::string&);
template Option* App::add_option(const std::string&, std::vector<double>&, const std::string&);

Choices& Choices::add(const std::string& name, const std::string& about) {
  if (std::find(names_.begin(), names_.end(), name) != names_.end()) return *this;
  names_.push_back(name);
  about_ += (about_.empty() ? "" : "; ") + name + (about.empty() ? "" : " (" + about + ")");
  return *this;
}

Option* Choices::add_option(App& app, const std::string& option, std::string& value, const std::string& before) const {
  const bool apart = before.empty() || before.back() == ' ';
  return app.add_option(option, value, before + (apart ? "" : ": ") + about_)->check(one_of(names_))->show_default();
}

std::vector<std::string> split_list(std::string_view text, char separator) {
  std::vector<std::string> all;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t to = std::min(text.find(separator, from), text.size());
    all.emplace_back(text.substr(from, to - from));
    from = to + 1;
  }
  return all;
}

}  // namespace tesela::cli
