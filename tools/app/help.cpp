#include "tools/app/help.hpp"

#include "tools/app/arguments.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <set>
#include <span>
#include <sstream>
#include <sys/ioctl.h>
#include <unistd.h>
#include <utility>

namespace tesela::cli {
namespace {

/// The common options of one purpose: an option has the same meaning in every command.
struct Common {
  const char* group;
  std::string_view names;
};

constexpr std::array<Common, 4> of_commands{{{"Input",
                                              " a b c d dl du t row h y data model weights factor detectors m n k nt "
                                              "nr batch rhs rows-c columns-b samples signals "
                                              "constellation channel ebn0 n0 sigma random seed "},
                                             {"Method",
                                              " method by pivot op-a op-b alpha beta vectors values full smallest "
                                              "largest range most cov dof constraints soft precision "},
                                             {"Run", " repeat no-check plan "},
                                             {"Output",
                                              " out out-q out-r out-s out-v out-l out-u out-vectors out-points out-llr "
                                              "std-errors csv svg json quiet verbose "}}};

/// The commands of one purpose, in the order of the help.
constexpr std::array<Common, 6> purposes{{{"Systems of equations", " lu cholesky tridiag toeplitz "},
                                          {"Least squares and regression", " ols wls lse glm nnls tls sem "},
                                          {"Eigenvalues and singular values", " eig svd pca "},
                                          {"Factorizations and products", " qr gqr gemm "},
                                          {"Radio", " mimo "},
                                          {"Study and tools", " schedule trace bench generate info completion "}}};

constexpr std::array<Common, 3> of_benchmarks{
    {{"Sizes", " table m n k mt nt rhs rows-c columns-b batch count tiles tasks rows matrices signals samples "},
     {"Run", " peers data precision repeat "},
     {"Output", " out "}}};

/// Returns the end of the remark in parentheses at the beginning of the text, which may contain an interval [a, b).
std::size_t end_of_remark(std::string_view text) {
  bool interval = false;
  int depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '[') interval = true;
    if (text[at] == '(') ++depth;
    if (text[at] == ')' && !interval && --depth == 0) return at + 1;
    if (text[at] == ']' || text[at] == ')') interval = false;
  }
  return text.size();
}

/// Returns the option's type: FILE, or INT of "INT:POSITIVE", and sets `choices` to a, b of "TEXT:{a,b}".
std::string type_of(const CLI::Option& option, std::string& choices) {
  if (option.get_type_size() == 0) return "";
  const std::string type = option.get_type_name();
  const std::size_t colon = type.find(':');
  if (colon != std::string::npos && type.compare(colon, 2, ":{") == 0)
    choices = type.substr(colon + 2, type.find('}', colon) - colon - 2);
  return (type.empty() ? "" : " ") + type.substr(0, colon) + (option.get_expected_max() > 1 ? " ..." : "");
}

bool names_all(const std::string& text, const std::string& choices) {
  std::istringstream list(choices);
  for (std::string choice; std::getline(list, choice, ',');)
    if (text.find(choice) == std::string::npos) return false;
  return true;
}

std::string names_of(const std::set<CLI::Option*>& options) {
  std::set<std::string> names;  // in the order of the alphabet
  for (const CLI::Option* option : options) names.insert(option->get_name());
  return fmt::format("{}", fmt::join(names, " "));
}

/// Returns the columns of the terminal, 30 to 120; without a terminal COLUMNS, or 80.
std::size_t measured_width() {
  winsize size{};
  const char* const columns = std::getenv("COLUMNS");
  long width = 80;
  if (isatty(STDOUT_FILENO) != 0 && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
    width = size.ws_col;
  else if (columns != nullptr && std::atol(columns) > 0)
    width = std::atol(columns);
  return static_cast<std::size_t>(std::clamp(width, 30L, 120L));
}

std::size_t terminal_width() {
  static const std::size_t width = measured_width();
  return width;
}

/// Returns the first column of the texts behind the names of options and commands.
std::size_t text_column() { return terminal_width() < 60 ? 8 : 26; }

/// Appends the text to `line` in lines of the terminal's width, each indented by `column` blanks.
std::string wrapped(std::string line, std::size_t column, const std::string& text) {
  std::string lines;
  std::istringstream words(text);
  for (std::string word; words >> word; line += word) {
    if (line.size() == column) continue;
    if (line.size() + 1 + word.size() <= terminal_width())
      line += ' ';
    else
      lines += line + "\n", line.assign(column, ' ');
  }
  return lines + line + "\n";
}

/// Breaks a command line between its words, not within quotes, as a shell reads it.
std::string wrapped_command(const std::string& line) {
  std::string lines, part;
  char quote = 0;
  for (std::size_t at = 0, begin = 0; at <= line.size(); ++at) {
    if (at < line.size() && (line[at] == '"' || line[at] == '\''))
      quote = quote == 0 ? line[at] : quote == line[at] ? '\0' : quote;
    if (at < line.size() && (line[at] != ' ' || quote != 0)) continue;
    const std::string word = line.substr(begin, at - begin);
    if (part.find_first_not_of(' ') != std::string::npos && part.size() + word.size() + 3 > terminal_width())
      lines += part + " \\\n", part = "     ";
    part += (begin > 0 ? " " : "") + word;
    begin = at + 1;
  }
  return lines + part + "\n";
}

/// Breaks the long lines of a text; of indented lines only commands.
std::string wrapped_lines(const std::string& text) {
  std::string lines;
  std::istringstream all(text);
  for (std::string line; std::getline(all, line);)
    lines += line.size() <= terminal_width() ? line + "\n"
             : line.starts_with("  tesela ") ? wrapped_command(line)
             : line.starts_with(' ')         ? line + "\n"
                                             : wrapped("", 0, line);
  return lines;
}

/// Returns a name and, in the second column, its text.
std::string row(const std::string& name, const std::string& text) {
  const std::size_t column = text_column();
  std::string lines, line = "  " + name;
  if (line.size() >= column) lines = line + "\n", line.clear();
  line.resize(column, ' ');
  return lines + wrapped(line, column, text);
}

std::string row(const CLI::Option& option, bool brief) {
  const bool positional = !option.nonpositional();
  std::string name = option.get_name(positional, !positional), choices;
  name = name.substr(0, name.find('{')) + type_of(option, choices);  // --x,--no-x{false}
  std::string text = brief ? without_remarks(option.get_description()) : option.get_description();
  if (constexpr std::size_t most = 150; brief && text.size() > most)
    text = text.substr(0, text.rfind(' ', most)) + " ...";
  if (!names_all(option.get_description(), choices)) {
    text += ": ";
    for (const char c : choices)
      text += choices.size() + text_column() > terminal_width() && c == ',' ? ", " : std::string(1, c);  // to be broken
  }
  if (const std::string& given = option.get_default_str(); !given.empty() && text.find("(default") == std::string::npos)
    text += fmt::format(" (default: {})", given);
  if (!brief && !option.get_needs().empty()) text += "; needs " + names_of(option.get_needs());
  if (!brief && !option.get_excludes().empty()) text += "; not with " + names_of(option.get_excludes());
  return row(name, text);
}

class Formatter : public CLI::Formatter {
 public:
  std::string make_group(std::string group, bool /*positional*/,
                         std::vector<const CLI::Option*> options) const override {
    std::erase_if(options, [](const CLI::Option* option) { return option->nonpositional(); });  // listed by its name
    std::string lines = options.empty() ? "" : fmt::format("\n{}:\n", group);
    for (const CLI::Option* option : options) lines += row(*option, false);
    return lines;
  }

  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override {
    if (mode == CLI::AppFormatMode::Sub) return make_expanded(app);
    const bool brief = mode == CLI::AppFormatMode::Normal;
    const std::string footer = make_footer(app);
    return wrapped_lines(make_description(app) + make_usage(app, std::move(name))) + make_positionals(app) +
           groups(*app, brief) + make_subcommands(app, mode) + "\n" + (brief ? with_one_example(footer) : footer);
  }

  std::string make_subcommand(const CLI::App* command) const override {
    return row(command->get_name(), command->get_description());
  }

  std::string make_subcommands(const CLI::App* app, CLI::AppFormatMode mode) const override {
    if (app->get_parent() != nullptr) return CLI::Formatter::make_subcommands(app, mode);
    std::string lines;
    std::set<std::string> listed;
    for (const auto& [purpose, names] : purposes) {
      std::istringstream words{std::string(names)};
      std::string commands;
      for (std::string name; words >> name;)
        for (const CLI::App* command :
             app->get_subcommands([&](const CLI::App* one) { return one->get_name() == name; }))
          commands += make_subcommand(command), listed.insert(name);
      if (!commands.empty()) lines += fmt::format("\n{}:\n{}", purpose, commands);
    }
    std::string others;
    for (const CLI::App* command : app->get_subcommands({}))
      if (!listed.contains(command->get_name())) others += make_subcommand(command);
    return lines + (others.empty() ? "" : "\nOthers:\n" + others);
  }

  std::string make_footer(const CLI::App* app) const override { return wrapped_lines(app->get_footer()); }

 private:
  /// Returns the footer up to its first example.
  static std::string with_one_example(std::string footer) {
    constexpr std::string_view title = "Examples:\n";
    const std::size_t examples = footer.find(title);
    if (examples == std::string::npos) return footer;
    const std::size_t first = examples + title.size(), second = footer.find("\n  tesela ", first);
    if (second != std::string::npos) footer.erase(second + 1);
    return footer.replace(examples, title.size(), "Example:\n");
  }

  static std::string groups(const CLI::App& app, bool brief) {
    std::string lines;
    for (const char* group : {"Input", "Sizes", "Method", "Run", "Output", "Options", more_options}) {
      const auto options = app.get_options(
          [group](const CLI::Option* option) { return option->get_group() == group && option->nonpositional(); });
      if (options.empty()) continue;
      if (brief && group == more_options) {
        lines += '\n' +
                 wrapped("", 0,
                         fmt::format("tesela help {} --all shows {} more options.", command_name(app), options.size()));
        continue;
      }
      lines += fmt::format("\n{}:\n", group);
      for (const CLI::Option* option : options) lines += row(*option, brief);
    }
    return lines;
  }
};

}  // namespace

std::string without_remarks(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t length = text.starts_with(" (") && !result.ends_with('/') ? 1 + end_of_remark(text.substr(1)) : 1;
    if (length == 1)
      result += text.front();
    else if (const std::size_t given = text.substr(0, length).find("default"); given != std::string_view::npos)
      result += fmt::format(" ({}", text.substr(given, length - given));
    text.remove_prefix(length);
  }
  return result;
}

void group_options(CLI::App& command) {
  constexpr std::size_t few = 10;
  const bool benchmark = command.get_parent()->get_name() == "bench";
  const auto shown = command.get_options([](const CLI::Option* option) { return !option->get_group().empty(); });
  if (shown.size() <= few) return;
  for (CLI::Option* option : shown) {
    if (!option->nonpositional() || option->get_group() == more_options) continue;
    option->group(more_options);
    for (const auto& [group, names] : benchmark ? std::span<const Common>(of_benchmarks) : of_commands)
      if (names.find(fmt::format(" {} ", option->get_single_name())) != std::string_view::npos) option->group(group);
  }
}

std::shared_ptr<CLI::FormatterBase> help_formatter() { return std::make_shared<Formatter>(); }

}  // namespace tesela::cli
