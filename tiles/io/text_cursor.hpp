#pragma once

#include <tesela/runtime/types.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace tesela {

/// Form of a text file.
enum class TextKind : std::uint8_t {
  matrix_market,  ///< % starts a comment line
  table,          ///< # starts a comment anywhere, and a comma may separate words
};

/// Reads lines of blank-separated words and numbers, and counts lines for messages. Blanks are space, tab and carriage
/// return, so that lines may end in CR LF. All errors are FileErrors with the file's name and the line number.
class TextCursor {
 public:
  /// `name` must outlive the cursor.
  TextCursor(std::span<const char> text, const std::string& name, TextKind kind = TextKind::matrix_market)
      : here_(text.data()), end_(text.data() + text.size()), name_(name), kind_(kind) {}

  /// Moves to the first word of the next line that is neither blank nor a comment. Returns false at the end of the
  /// file.
  bool next_line();

  /// Skips the rest of the line.
  void skip_line();

  /// Skips blanks and then a comma or semicolon; returns whether one follows. Throws FileError if the text has both.
  bool skip_separator();

  /// Returns whether the line has no further word.
  bool at_line_end();

  /// Fails if the line has another word; `after` names the expected last one.
  void expect_line_end(const char* after);

  /// Returns the next word of the line; empty at its end.
  std::string_view word();

  /// Returns the next word as an integer. `what` names it in messages.
  index_t whole_number(const char* what);

  /// Returns the next word as a decimal number (1.25e-2, 1.25D-02), rounded correctly to T. Fails for NaN and for
  /// numbers that are too large, or nonzero and too small (see keeps). With `integer`, the word must have no point and
  /// no exponent, and be exact in double precision. If not `counts`, any number is valid and becomes 0 if it would
  /// fail. A message about a missing number names its `column`, from 1, unless that is 0.
  template <class T>
  T real_number(bool integer, bool counts = true, index_t column = 0);

  /// Returns the number of unread bytes.
  std::size_t remaining() const { return static_cast<std::size_t>(end_ - here_); }

  /// Throws FileError with the problem and the number of the line.
  [[noreturn]] void fail(const std::string& problem) const;
  /// Returns the problem with the number of the line.
  std::string in_line(const std::string& problem) const;

 private:
  void skip_blanks();
  bool at_word_end(const char* p) const;

  const char* here_;
  const char* end_;
  const std::string& name_;
  TextKind kind_;
  index_t line_ = 1;
  char separator_ = '\0';  // comma or semicolon, once one was skipped
};

/// The shortest decimal that reads back to the same bits.
class Decimal {
 public:
  template <class T>
  explicit Decimal(T value);
  std::string_view text() const { return {digits_.data(), size_}; }  ///< the digits

 private:
  std::array<char, 32> digits_;  // the longest shortest-form double has 24 characters
  std::size_t size_;
};

/// Returns text from a file for a message: in quotes, shortened, printable.
std::string quoted(std::string_view text);

}  // namespace tesela
