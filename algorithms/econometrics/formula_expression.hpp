#pragma once

#include <tesela/runtime/types.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace tesela {

/// A place in a text: `line` and `column`, from 1.
struct TextPlace {
  index_t line = 0, column = 0;
};

/// An expression of a formula as a tree. An operator is a call of the function with its sign, as in R: "+", "*", ":",
/// "(" and so on. A sum a + b - c is one call of "+" with the arguments a, b and a call of "-" with the argument c.
struct Expression {
  /// Kind of an expression.
  enum class Kind : std::uint8_t {
    number,  ///< as `number`; `text` has its digits
    string,  ///< `text` between quotes
    name,    ///< a column, or "." for all other columns
    call,    ///< function `text` of `arguments`
  };
  Kind kind = Kind::name;
  std::string text = {};
  double number = 0;
  std::vector<Expression> arguments = {};
  std::vector<std::string> names = {};  ///< of the arguments of a call, empty without a name
  TextPlace place = {};

  /// Returns whether it is a call of this function.
  bool calls(std::string_view function) const { return kind == Kind::call && text == function; }
};

/// Reads expressions in R's notation from one line, with R's precedence; ** is ^, and Q("name") is `name`.
class ExpressionReader {
 public:
  /// `source` is the name of the text in messages.
  ExpressionReader(std::string_view line, index_t number, const std::string& source)
      : text_(line), line_(number), source_(source) {}

  /// Returns the expression at the reader's place. At the top level a vertical bar ends it.
  Expression read() { return binary(above_bars, 0); }

  /// Skips blanks and returns whether the line ends here.
  bool at_end();
  /// Returns whether the next character is c, and skips it.
  bool take(char c);
  void expect(char c, const char* what);
  void expect_end();
  /// Skips to a place that counts from 0.
  void skip_to(std::size_t at) { at_ = at; }

  /// Returns the place of the next character.
  TextPlace place() const { return {line_, static_cast<index_t>(at_) + 1}; }
  /// Throws FileError with the problem and its place.
  [[noreturn]] void fail(const std::string& problem) const;

 private:
  static constexpr int above_bars = 2;

  void skip_blanks();
  std::string here() const;
  std::string name();
  std::string quoted(char quote);
  Expression number();
  Expression primary(int depth);
  Expression unary(int depth);
  Expression binary(int least, int depth);
  Expression call(const std::string& function, TextPlace begin, int depth);
  /// Returns the binary operator at the reader's place, in R's spelling, and its number of characters; empty without.
  std::string_view peek_operator(std::size_t& length);

  std::string_view text_;
  index_t line_;
  std::string source_;
  std::size_t at_ = 0;
};

/// Returns an expression in R's notation, with R's blanks; equal texts denote the same column.
std::string text_of(const Expression& expression);

/// Returns a name in the form that a formula needs, with backquotes if necessary.
std::string quoted_name(const std::string& name);

/// Throws FileError with a place in a formula.
[[noreturn]] void fail_at(const std::string& source, TextPlace place, const std::string& problem);

}  // namespace tesela
