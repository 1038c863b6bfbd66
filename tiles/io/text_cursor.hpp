#pragma once

#include <tesela/runtime/types.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace tesela {

/// Walks over lines of blank-separated words and numbers, and knows the line it is on for the sake of messages. Blanks
/// are space, tab and carriage return, so that lines may end in CR LF. Everything that fails throws FileError with the
/// file's name and the number of the line.
class TextCursor {
 public:
  /// `name` must outlive the cursor.
  TextCursor(std::span<const char> text, const std::string& name)
      : here_(text.data()), end_(text.data() + text.size()), name_(name) {}

  /// Moves on to the first word of the next line that is neither blank nor a comment (%); false at the end of the file.
  bool next_line();

  /// Fails when the line goes on; `after` says what should have been the last thing on it.
  void expect_line_end(const char* after);

  /// The next word of the line; empty at its end.
  std::string_view word();

  /// The next word as a whole number. `what` names it in messages.
  index_t whole_number(const char* what);

  /// The next word as a decimal number, rounded correctly to T. Fails for NaN, for a number that is too large, and for
  /// one that is not zero and too small (see keeps). With `integer`, it must have no point and no exponent, and be
  /// exact in double precision. A number that does not count may be any, and is 0 if it would fail.
  template <class T>
  T real_number(bool integer, bool counts = true);

  /// The bytes that are left.
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

/// Text from a file as it can be shown in a message: in quotes, short, printable.
std::string quoted(std::string_view text);

}  // namespace tesela
