#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace tesela::cli {

class App;

/// A check of an option's text.
struct Check {
  std::function<std::string(std::string& text)> error;  ///< returns an error message, or ""; may rewrite the text
  std::string about;                                    ///< in the help, such as "POSITIVE"
};

/// Accepts only these values. The help lists them.
Check one_of(std::vector<std::string> values);

/// Accepts files with these endings, and special files, such as /dev/stdout. The message says that `what`, such
/// as "a page", has these endings. `or_no_ending` accepts a name without one, too.
Check ends_with(std::vector<std::string> endings, std::string what, bool or_no_ending = false);

/// An option of a command. Each setter returns the option, so that calls chain.
class Option {
 public:
  explicit Option(CLI::Option& option) : option_(&option) {}

  Option* show_default();                        ///< shows the variable's present value as the default
  Option* check(const Check& check);             ///< of the text, after the checks so far
  Option* default_str(const std::string& text);  ///< the default that the help shows
  Option* delimiter(char separator);             ///< the text is a list
  Option* excludes(Option* other);               ///< an error together with the other option
  Option* expected(int least, int most);         ///< number of words
  Option* group(const std::string& name);        ///< of the help; "" hides the option
  Option* needs(Option* other);                  ///< an error without the other option
  Option* non_negative();                        ///< transform() by that check
  Option* positive();                            ///< transform() by that check
  Option* required();                            ///< an error if it is missing
  Option* transform(const Check& check);         ///< as check(), before the others
  Option* type_name(const std::string& name);    ///< such as FILE
  /// Declares an earlier name of option `now`: an error together with it.
  Option* replaced_by(Option* now);
  Option* generates();  ///< describes generated input: the command then needs no file
  /// Declares an input file that may be missing only if no other file is given either, if the command line names an
  /// option in `unless`, or if `wanted` returns false: random numbers in its place would be a surprise. The error
  /// message offers `way`, such as "--rhs K for K random right-hand sides".
  Option* belongs_to_files(std::vector<std::string> unless, std::string way, std::function<bool()> wanted = {});
  /// Declares an input file that the command may read without making it dense: it calls announce_dense_input() itself.
  Option* may_stay_sparse();

  bool is_required() const;
  bool is_generator() const { return generates_; }
  bool stays_sparse() const { return sparse_; }
  std::size_t count() const;  ///< how often the command line names it
  std::string value() const;  ///< its text
  std::string get_name() const;

 private:
  CLI::Option* option_;
  friend void require_problem(const App& app);

  bool generates_ = false, sparse_ = false;
  std::vector<std::string> unless_ = {};  // of belongs_to_files()
  std::string way_ = {};
  std::function<bool()> wanted_ = {};
};

/// A command's options. Only tools/app/ includes the parser's headers, which cost each file four seconds.
class App {
 public:
  explicit App(CLI::App& app) : app_(&app) {}
  App(const App&) = delete;
  App& operator=(const App&) = delete;

  /// Adds an option ("-o,--out", or "name" for a word without dashes) that sets `value`: a string, a number, or a
  /// vector of them.
  template <class T>
  Option* add_option(const std::string& name, T& value, const std::string& about = "");
  /// Adds an option whose text is a list "a,b,c".
  template <class T>
  Option* add_list(const std::string& name, T& value, const std::string& about = "") {
    return add_option(name, value, about)->delimiter(',');
  }
  /// Adds a flag that sets `value`; "--x,!--no-x" clears it by its second name.
  Option* add_flag(const std::string& name, bool& value, const std::string& about = "");
  /// Returns the option with this name. Throws if the command has none.
  Option* get_option(const std::string& name);
  bool has_option(const std::string& name) const;
  /// Returns whether the command line names an option of generated input.
  bool generates() const;
  /// Returns how often the command line names the option; 0 if the command has none.
  std::size_t count(const std::string& name) const;
  /// Ends the command's help.
  void footer(const std::string& text);

 private:
  friend std::string command_name(const App& app);

  CLI::App* app_;
  std::deque<Option> options_;  // addresses stay valid
};

/// Returns the command's words: "toeplitz eig".
std::string command_name(const App& app);
std::string command_name(const CLI::App& app);

/// Adds an option for an input file; "-" becomes /dev/stdin.
Option* add_input(App& app, const std::string& option, std::string& path, const std::string& about);

/// Returns the given input files of the command that runs (see require_inputs).
const std::vector<std::string>& given_inputs();

/// Returns whether a given input is a Matrix Market coordinate file, which in a few bytes may name a matrix of any
/// size.
bool has_coordinate_input();

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

/// Returns the elements of "a,b,c", including empty ones: n commas separate n + 1 elements.
std::vector<std::string> split_list(std::string_view text, char separator = ',');

}  // namespace tesela::cli
