#include <tesela/runtime/errors.hpp>
#include <tesela/tiles/io/kept_value.hpp>
#include <tesela/tiles/io/reading.hpp>
#include <tesela/tiles/io/text_cursor.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

namespace tesela {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
bool is_digit(char c) { return '0' <= c && c <= '9'; }

// Skips a plus sign, which from_chars does not accept.
const char* skip_plus(const char* p, const char* end) { return end - p >= 2 && *p == '+' && p[1] != '-' ? p + 1 : p; }

// Returns whether a number out of range is too small; from_chars does not distinguish small from large. The position of
// the first nonzero digit relative to the decimal point, plus the exponent, decides; an error of one power of ten does
// not matter there.
bool is_below_one(std::string_view number) {
  const auto exponent_at = std::min(number.find_first_of("eE"), number.size());
  const auto digits = number.substr(0, exponent_at);
  const auto point = std::min(digits.find('.'), digits.size());
  const auto first = digits.find_first_of("123456789");
  if (first == std::string_view::npos) return true;
  const auto place = static_cast<std::int64_t>(point) - static_cast<std::int64_t>(first);

  std::int64_t exponent = 0;
  if (exponent_at < number.size()) {
    const auto digits_of_exponent = number.substr(exponent_at + 1);
    const char* const end = digits_of_exponent.data() + digits_of_exponent.size();
    const char* const begin = skip_plus(digits_of_exponent.data(), end);
    if (std::from_chars(begin, end, exponent).ec == std::errc::result_out_of_range) return *begin == '-';
  }
  return exponent < -place;
}

double as_double(std::string_view text) {
  const char* const end = text.data() + text.size();
  double value = 0;
  std::from_chars(skip_plus(text.data(), end), end, value);
  return value;
}

/// Returns whether a nonzero number is below T's normal numbers and loses digits. Decimals below double precision's
/// normal numbers pass if they do not become 0.
template <class T>
bool underflows(std::string_view text, T value) {
  if (std::abs(value) >= std::numeric_limits<T>::min() || is_zero(text)) return false;
  return value == T{0} || !keeps(as_double(text), value);
}

}  // namespace

std::string quoted(std::string_view text) {
  constexpr std::size_t shown = 40;
  std::string result = "'";
  for (const char c : text.substr(0, shown)) result += ' ' <= c && c <= '~' ? c : '?';
  return result + (text.size() > shown ? "...'" : "'");
}

std::string TextCursor::in_line(const std::string& problem) const {
  return "line " + std::to_string(line_) + ": " + problem;
}

void TextCursor::fail(const std::string& problem) const { throw FileError(name_, in_line(problem)); }

void TextCursor::skip_blanks() {
  while (here_ != end_ && is_blank(*here_)) ++here_;
}

bool TextCursor::at_word_end(const char* p) const {
  return p == end_ || *p == '\n' || is_blank(*p) || (kind_ == TextKind::table && (*p == ',' || *p == ';' || *p == '#'));
}

void TextCursor::skip_line() {
  const void* const newline = here_ == end_ ? nullptr : std::memchr(here_, '\n', remaining());
  here_ = newline != nullptr ? static_cast<const char*>(newline) : end_;
}

bool TextCursor::skip_separator() {
  skip_blanks();
  if (here_ == end_ || (*here_ != ',' && *here_ != ';')) return false;
  if (separator_ != '\0' && *here_ != separator_)
    fail("has commas and semicolons between numbers; a number has a point, as in 1.5, not a comma");
  separator_ = *here_++;
  return true;
}

bool TextCursor::at_line_end() {
  skip_blanks();
  return here_ == end_ || *here_ == '\n' || (kind_ == TextKind::table && *here_ == '#');
}

bool TextCursor::next_line() {
  for (;;) {
    skip_blanks();
    if (here_ == end_) return false;
    if (*here_ == (kind_ == TextKind::table ? '#' : '%')) {
      skip_line();
    } else if (*here_ == '\n') {
      ++here_;
      ++line_;
    } else {
      Reading::store_unread(remaining());
      return true;
    }
  }
}

void TextCursor::expect_line_end(const char* after) {
  const auto rest = word();
  if (!rest.empty()) fail("unexpected " + quoted(rest) + " after " + after);
}

std::string_view TextCursor::word() {
  skip_blanks();
  const char* const begin = here_;
  while (!at_word_end(here_)) ++here_;
  return {begin, static_cast<std::size_t>(here_ - begin)};
}

index_t TextCursor::whole_number(const char* what) {
  const auto text = word();
  if (text.empty()) fail(std::string(what) + " is missing");
  const char* const end = text.data() + text.size();
  index_t value = 0;
  const auto [stop, error] = std::from_chars(skip_plus(text.data(), end), end, value);
  if (error == std::errc::result_out_of_range) fail(std::string(what) + " is too large: " + quoted(text));
  if (error != std::errc() || stop != end) fail(std::string(what) + " is not a whole number: " + quoted(text));
  return value;
}

template <class T>
T TextCursor::real_number(bool integer, bool counts, index_t column) {
  const std::string_view written = word();
  if (written.empty()) fail("the value" + (column > 0 ? " of column " + std::to_string(column) : "") + " is missing");
  std::string_view text = written;
  T value{};
  const auto parsed = [&] {
    value = T{};
    const char* const last = text.data() + text.size();
    return std::from_chars(skip_plus(text.data(), last), last, value);
  };
  std::from_chars_result result = parsed();
  std::string with_e;
  if (const char* const at = result.ptr; at != text.data() + text.size() && (*at == 'D' || *at == 'd')) {
    with_e = text;  // as Fortran writes exponents
    with_e[static_cast<std::size_t>(at - text.data())] = 'e';
    text = with_e;
    result = parsed();
  }
  const auto [stop, error] = result;
  const char* const end = text.data() + text.size();
  if (error == std::errc::invalid_argument || stop != end) fail("the value is not a number: " + quoted(written));
  const bool too_large = error == std::errc::result_out_of_range && !is_below_one(text),
             fits = !too_large && !underflows(text, value), finite = std::isfinite(value);
  if (!counts) return fits && finite ? value : T{0};
  if (!fits && sizeof(T) == sizeof(float))
    throw PrecisionError(name_, in_line("the value does not fit single precision: " + quoted(written)));
  if (!fits) fail("the value does not fit double precision: " + quoted(written));
  if (!finite) fail("the value is not finite: " + quoted(text));
  if (!integer) return value;
  if (!std::all_of(text.begin(), text.end(), [](char c) { return is_digit(c) || c == '-' || c == '+'; }))
    fail("the value is not an integer: " + quoted(text));
  if (!is_exactly(text, as_double(text)))
    fail("double precision does not hold the integer " + quoted(text) +
         "; in a file of the field 'real' it would be rounded");
  return value;
}

template <class T>
Decimal::Decimal(T value) {
  // Below the normal numbers, the shortest digits in single precision differ from the value by more than readers accept
  // (see keeps in kept_value.hpp).
  const bool normal = std::abs(value) >= std::numeric_limits<T>::min();
  char* const last = digits_.data() + digits_.size();
  size_ = static_cast<std::size_t>((normal ? std::to_chars(digits_.data(), last, value)
                                           : std::to_chars(digits_.data(), last, static_cast<double>(value)))
                                       .ptr -
                                   digits_.data());
}

template Decimal::Decimal(float);
template Decimal::Decimal(double);
template float TextCursor::real_number<float>(bool, bool, index_t);
template double TextCursor::real_number<double>(bool, bool, index_t);

}  // namespace tesela
