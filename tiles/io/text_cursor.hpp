#pragma once

#include <tesela/runtime/types.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace tesela {

/// Reads lines of blank-separated words and numbers, and counts lines for messages. Blanks are space, tab and carriage
/// return, so that lines may end in CR LF. All errors are FileErrors with the file's name and the line number.
class TextCursor {
 public:
  /// `name` must outlive the cursor.
  TextCursor(std::span<const char> text, const std::string& name)
      : here_(text.data()), end_(text.data() + text.size()), name_(name) {}

  /// Moves to the first word of the next line that is neither blank nor a comment (%). Returns false at the end of the
  /// file.
  bool next_line();

  /// Fails if the line has another word; `after` names the expected last one.
  void expect_line_end(const char* after);

  /// Returns the next word of the line; empty at its end.
  std::string_view word();

  /// Returns the next word as an integer. `what` names it in messages.
  index_t whole_number(const char* what);

  /// Returns the next word as a decimal number, rounded correctly to T. Fails for NaN and for numbers that are too
  /// large, or nonzero and too small (see keeps). With `integer`, the word must have no point and no exponent, and be
  /// exact in double precision. If not `counts`, any number is valid and becomes 0 if it would fail.
  template <class T>
  T real_number(bool integer, bool counts = true);

  /// Returns the number of unread bytes.
  std::size_t remaining() const { return static_cast<std::size_t>(end_ - here_); }

  [[noreturn]] void fail(const std::string& problem) const;

 private:
  void skip_blanks();
  bool at_word_end(const char* p) const;

  const char* here_;
  const char* end_;
  const std::string& name_;
  index_t line_ = 1;
};

/// Returns text from a file for a message: in quotes, shortened, printable.
std::string quoted(std::string_view text);

}  // namespace tesela
