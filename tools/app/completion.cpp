#include "tools/app/help.hpp"
#include <tesela/runtime/config.hpp>
#include <tesela/runtime/require.hpp>
#include <tesela/tiles/io/atomic_file.hpp>
#include <tesela/tiles/io/file_batch.hpp>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <functional>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace tesela::cli {
namespace {

/// An option as a shell sees it.
struct Word {
  std::vector<std::string> names;  ///< "-n", "--n"; none for a word without dashes
  std::string about, type;
  std::vector<std::string> values;
  bool argument = false, file = false;
  bool closed = false;  ///< no other values
};

/// A command with its sub-commands' names and texts.
struct Node {
  std::string path;  ///< "toeplitz solve"; "" for the program
  std::string about, footer;
  std::vector<std::pair<std::string, std::string>> commands;
  std::vector<Word> words;
};

/// Returns the first sentence or clause on one line.
std::string brief(const std::string& text) {
  std::string line = text.substr(0, std::min(text.find(';'), text.find('\n')));
  if (constexpr std::size_t most = 90; line.size() > most) line = line.substr(0, line.rfind(' ', most));
  return line;
}

/// Returns the words that a text lists after its last ": " or "such as ", separated by commas, semicolons or "or". A
/// form such as band:B becomes "band:".
std::vector<std::string> listed_in(const std::string& description) {
  std::string text = without_remarks(description);
  if (const std::size_t at = text.rfind(": "); at != std::string::npos) text.erase(0, at + 2);
  if (const std::size_t at = text.rfind("such as "); at != std::string::npos) text.erase(0, at + 8);
  text = std::regex_replace(text, std::regex(" or |[,;] "), "\n");
  std::vector<std::string> words;
  std::istringstream lines(text);
  for (std::string word; std::getline(lines, word);) {
    if (const std::size_t form = word.find(':'); form != std::string::npos) word.erase(form + 1);
    if (!word.empty() && word.find(' ') == std::string::npos) words.push_back(word);
  }
  return words;
}

/// Returns the words of an option of an open set, such as KIND: its text lists them, or names the option that does.
std::vector<std::string> words_of(const CLI::App& app, const CLI::Option& option) {
  const std::string about = option.get_description();
  for (const CLI::Option* other : app.get_options())
    if (other != &option && other->get_type_name() == option.get_type_name() &&
        about.find(other->get_name()) != std::string::npos)
      return words_of(app, *other);
  return listed_in(about);
}

Word word_of(const CLI::App& app, const CLI::Option& option) {
  Word word;
  for (const std::string& name : option.get_snames()) word.names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) word.names.push_back("--" + name);
  word.about = option.get_description();
  word.argument = option.get_items_expected_max() > 0;
  const std::string type = option.get_type_name();
  word.type = type.substr(0, type.find(':'));
  word.file = type.starts_with("FILE") || type.starts_with("DIR") || type.starts_with("TEXT:FILE");
  if (const std::size_t list = type.find(":{"); list != std::string::npos) {
    word.closed = true;
    std::istringstream values(type.substr(list + 2, type.find('}', list) - list - 2));
    for (std::string value; std::getline(values, value, ',');) word.values.push_back(value);
  } else if (type == "KIND" || type == "ORDER" || type == "POLICY") {
    word.values = words_of(app, option);
  }
  return word;
}

/// Returns the program and its commands, the program first.
std::vector<Node> nodes_of(const CLI::App& program) {
  std::vector<Node> nodes;
  const std::function<void(const CLI::App&, const std::string&)> add = [&](const CLI::App& app,
                                                                           const std::string& path) {
    Node node{path, app.get_description(), app.get_footer(), {}, {}};
    for (const CLI::Option* option : app.get_options([](const CLI::Option* one) { return !one->get_group().empty(); }))
      node.words.push_back(word_of(app, *option));
    for (const CLI::App* inner : app.get_subcommands({}))
      node.commands.emplace_back(inner->get_name(), inner->get_description());
    nodes.push_back(std::move(node));
    for (const CLI::App* inner : app.get_subcommands({}))
      add(*inner, path.empty() ? inner->get_name() : path + " " + inner->get_name());
  };
  add(program, "");
  return nodes;
}

/// Returns text in single quotes, as all three shells read it.
std::string quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

/// Returns the names of the options and commands of a node.
std::vector<std::string> names_of(const Node& node) {
  std::vector<std::string> names;
  for (const auto& [name, about] : node.commands) names.push_back(name);
  for (const Word& word : node.words) {
    const auto& words = word.names.empty() ? word.values : word.names;
    names.insert(names.end(), words.begin(), words.end());
  }
  return names;
}

/// Returns the paths with sub-commands before them, as in "toeplitz solve", as patterns of `case`.
std::string paths_of(const std::vector<Node>& nodes) {
  std::vector<std::string> paths;
  for (const Node& node : nodes)
    if (!node.path.empty()) paths.push_back(quoted(node.path));
  return fmt::format("{}", fmt::join(paths, "|"));
}

std::string for_bash(const std::vector<Node>& nodes) {
  std::string script = fmt::format(R"(# bash completion of tesela {}
_tesela() {{
  local cur=${{COMP_WORDS[COMP_CWORD]}} previous=${{COMP_WORDS[COMP_CWORD-1]}} path= word names= values=
  [[ $cur == = ]] && cur=
  [[ $previous == = ]] && previous=${{COMP_WORDS[COMP_CWORD-2]}}
  for word in "${{COMP_WORDS[@]:1:COMP_CWORD-1}}"; do
    case "${{path:+$path }}$word" in {}) path="${{path:+$path }}$word" ;; esac
  done
  case "$path:$previous" in
)",
                                   config::version, paths_of(nodes));
  for (const Node& node : nodes)
    for (const Word& word : node.words)
      for (const std::string& name : word.names)
        if (word.argument)
          script += fmt::format("    {}) values={} ;;\n", quoted(node.path + ":" + name),
                                word.values.empty() ? quoted(word.file ? "FILE" : "NONE")
                                                    : quoted(fmt::format("{}", fmt::join(word.values, " "))));
  script += "  esac\n  case \"$path\" in\n";
  for (const Node& node : nodes)
    script += fmt::format("    {}) names={} ;;\n", quoted(node.path),
                          quoted(fmt::format("{}", fmt::join(names_of(node), " "))));
  return script + R"(  esac
  if [[ $values == FILE ]]; then
    COMPREPLY=($(compgen -f -- "$cur"))
  elif [[ $values == NONE ]]; then
    COMPREPLY=()
  elif [[ -n $values ]]; then
    COMPREPLY=($(compgen -W "$values" -- "$cur"))
  else
    COMPREPLY=($(compgen -W "$names" -- "$cur"))
    [[ $cur == -* ]] || COMPREPLY+=($(compgen -f -- "$cur"))
  fi
}
complete -o filenames -F _tesela tesela
)";
}

std::string for_zsh(const std::vector<Node>& nodes) {
  const auto plain = [](const std::string& text) {  // characters that _arguments and _describe would interpret
    std::string result;
    for (const char c : brief(text))
      result += c == ':' || c == '[' || c == ']' ? std::string("\\") + c : std::string(1, c);
    return result;
  };
  const auto plain_words = [](const std::vector<std::string>& words) {
    std::string result;
    for (const char c : fmt::format("{}", fmt::join(words, " "))) result += (c == ':' ? "\\" : "") + std::string(1, c);
    return result;
  };
  std::string script = fmt::format(R"(#compdef tesela
# zsh completion of tesela {}
_tesela() {{
  local route= word
  local -a names arguments
  for word in "${{(@)words[2,CURRENT-1]}}"; do
    case "${{route:+$route }}$word" in {}) route="${{route:+$route }}$word" ;; esac
  done
  case "$route" in
)",
                                   config::version, paths_of(nodes));
  for (const Node& node : nodes) {
    std::vector<std::string> names, arguments;
    for (const auto& [name, about] : node.commands) names.push_back(quoted(name + ":" + plain(about)));
    for (const Word& word : node.words)
      for (const std::string& name : word.names) {
        const std::string action = word.values.empty() ? word.file ? ":file:_files" : ": :()"
                                                       : fmt::format(":value:({})", plain_words(word.values));
        arguments.push_back(quoted(fmt::format("*{}[{}]{}", name, plain(word.about), word.argument ? action : "")));
      }
    script += fmt::format("    {}) names=({}) arguments=({}) ;;\n", quoted(node.path), fmt::join(names, " "),
                          fmt::join(arguments, " "));
  }
  return script + R"(  esac
  (( $#names )) && _describe command names
  _arguments -s $arguments '*:file:_files'
}
compdef _tesela tesela
)";
}

std::string for_fish(const std::vector<Node>& nodes) {
  std::string script = fmt::format(R"(# fish completion of tesela {}
function __tesela_at
  set -l path ''
  for word in (commandline -opc)[2..]
    set -l longer (string trim -- "$path $word")
    contains -- "$longer" {} && set path $longer
  end
  test "$path" = "$argv[1]"
end
)",
                                   config::version,
                                   fmt::join(
                                       [&] {
                                         std::vector<std::string> paths;
                                         for (const Node& node : nodes)
                                           if (!node.path.empty()) paths.push_back(quoted(node.path));
                                         return paths;
                                       }(),
                                       " "));
  for (const Node& node : nodes) {
    const std::string at = fmt::format("complete -c tesela -n {}", quoted("__tesela_at \"" + node.path + "\""));
    for (const auto& [name, about] : node.commands)
      script += fmt::format("{} -f -a {} -d {}\n", at, name, quoted(brief(about)));
    for (const Word& word : node.words) {
      if (word.names.empty()) continue;
      script += at;
      for (const std::string& name : word.names)
        script += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      if (word.argument) script += word.file ? " -r" : " -x";
      if (!word.values.empty()) script += " -a " + quoted(fmt::format("{}", fmt::join(word.values, " ")));
      script += fmt::format(" -d {}\n", quoted(brief(word.about)));
    }
  }
  return script;
}

/// Returns text for troff: no line starts with its control characters.
std::string troff(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '\\')
      result += "\\e";
    else if (c == '-')
      result += "\\-";
    else if ((c == '.' || c == '\'') && (result.empty() || result.back() == '\n'))
      result += std::string("\\&") + c;
    else
      result += c;
  }
  return result;
}

/// Returns the options and sub-commands of a node, for a manual page.
std::string manual_options(const Node& node) {
  std::string page;
  for (const auto& [name, about] : node.commands) page += fmt::format(".TP\n.B {}\n{}\n", troff(name), troff(about));
  for (const Word& word : node.words) {
    if (word.names.empty()) continue;
    page += fmt::format(".TP\n.BI \"{}\" \"{}\"\n{}\n", troff(fmt::format("{}", fmt::join(word.names, ", "))),
                        word.argument ? " " + word.type : "", troff(word.about));
    if (!word.values.empty() && word.closed) page += troff(fmt::format("({})\n", fmt::join(word.values, ", ")));
  }
  return page;
}

std::string manual_footer(const Node& node) {
  return node.footer.empty() ? "" : fmt::format(".PP\n.nf\n{}\n.fi\n", troff(node.footer));
}

/// Returns the name and the text of each manual page: "tesela" for the program and "tesela-qr" for the command qr, with
/// its sub-commands.
std::vector<std::pair<std::string, std::string>> manuals(const std::vector<Node>& nodes) {
  std::vector<std::pair<std::string, std::string>> pages;
  const std::string status =
      ".SH EXIT STATUS\n0 done, 1 numerical failure, 2 wrong use or unreadable input, 3 environment, 128 + s after "
      "signal s.\n";
  std::string all;
  for (const Node& node : nodes) {
    const bool program = node.path.empty(), inner = node.path.find(' ') != std::string::npos;
    const std::string call = program ? "tesela" : "tesela " + node.path;
    if (inner) {
      pages.back().second += fmt::format(".SS {}\n{}\n", "\"" + troff(call) + "\"", troff(node.about)) +
                             manual_options(node) + manual_footer(node);
      continue;
    }
    const std::string name = program ? "tesela" : "tesela-" + node.path;
    if (!program) all += fmt::format("{}.BR {} (1)", all.empty() ? "" : ",\n", troff(name));
    std::string capitals = name;
    std::ranges::transform(capitals, capitals.begin(), [](unsigned char c) { return std::toupper(c); });
    pages.emplace_back(
        name,
        fmt::format(".TH {} 1 \"\" \"tesela {}\" \"User commands\"\n.SH NAME\n{} \\- {}\n.SH SYNOPSIS\n.B {}\n{}\n"
                    ".SH DESCRIPTION\n{}\n",
                    capitals, config::version, troff(name), troff(brief(node.about)), troff(call),
                    node.commands.empty() ? "[options]" : "COMMAND [options]", troff(node.about)) +
            manual_options(node) + manual_footer(node));
  }
  for (auto& [name, page] : pages)
    page += status + ".SH SEE ALSO\n" + (name == "tesela" ? all : std::string(".BR tesela (1)")) + "\n";
  return pages;
}

/// Writes the manual pages into a folder, all or none.
void write_manuals(const std::vector<Node>& nodes, const std::string& folder) {
  require(!folder.empty(), "completion", "--dir", "names no folder");
  FileBatch pages;
  for (const auto& [name, page] : manuals(nodes)) {
    AtomicFile file(fmt::format("{}/{}.1", folder, name));
    file.write(page);
    file.commit();
  }
  pages.publish();
}

}  // namespace

void add_completion(CLI::App& program) {
  CLI::App* const command =
      program.add_subcommand("completion", "print the completion script of a shell, or the manual page");
  command->footer(
      "Examples:\n"
      "  source <(tesela completion bash)\n"
      "  tesela completion zsh > ~/.zfunc/_tesela\n"
      "  tesela completion fish > ~/.config/fish/completions/tesela.fish\n"
      "  tesela completion man > tesela.1\n"
      "  tesela completion man --dir ~/.local/share/man/man1");
  command->add_option("shell", "bash, zsh, fish or man")
      ->required()
      ->check(CLI::IsMember(std::vector<std::string>{"bash", "zsh", "fish", "man"}));
  command->add_option("--dir", "man: write the manual pages of the program and of each command into DIR")
      ->type_name("DIR");
  command->callback([&program, command] {
    const auto shell = command->get_option("shell")->as<std::string>();
    const std::vector<Node> nodes = nodes_of(program);
    if (const CLI::Option* dir = command->get_option("--dir"); dir->count() > 0) {
      if (shell != "man") throw ArgumentError("completion", "--dir", "needs man");
      write_manuals(nodes, dir->as<std::string>());
      return;
    }
    fmt::print("{}", shell == "bash"   ? for_bash(nodes)
                     : shell == "zsh"  ? for_zsh(nodes)
                     : shell == "fish" ? for_fish(nodes)
                                       : manuals(nodes).front().second);
  });
}

}  // namespace tesela::cli
