#include <tesela/runtime/errors.hpp>
#include <tesela/tiles/io/npy_header.hpp>
#include <tesela/tiles/io/text_cursor.hpp>
#include <tesela/tiles/size_checks.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <string_view>

namespace tesela::npy {
namespace {

// Parser of the header, a dictionary in Python's notation: {'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }.
class Literal {
 public:
  Literal(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  [[noreturn]] void fail(const std::string& problem) const { throw FileError(name_, "in the .npy header: " + problem); }

  bool next_is(char c) {
    skip_space();
    return !text_.empty() && text_.front() == c;
  }

  bool accept(char c) {
    const bool found = next_is(c);
    if (found) text_.remove_prefix(1);
    return found;
  }

  void expect(char c) {
    if (!accept(c)) fail("expected " + quoted({&c, 1}) + " at " + rest());
  }

  void expect_end() {
    skip_space();
    if (!text_.empty()) fail("unexpected " + rest());
  }

  std::string_view string() {
    skip_space();
    const char quote = text_.empty() ? '\0' : text_.front();
    if (quote != '\'' && quote != '"') fail("expected a quoted string at " + rest());
    const auto end = text_.find(quote, 1);
    if (end == std::string_view::npos) fail("a string has no end: " + rest());
    const auto value = text_.substr(1, end - 1);
    text_.remove_prefix(end + 1);
    return value;
  }

  bool boolean() {
    skip_space();
    for (const std::string_view word : {"True", "False"}) {
      if (!text_.starts_with(word)) continue;
      text_.remove_prefix(word.size());
      return word == "True";
    }
    fail("expected True or False at " + rest());
  }

  // Parses a tuple of sizes.
  std::vector<index_t> tuple() {
    std::vector<index_t> values;
    expect('(');
    while (!accept(')')) {
      values.push_back(size());
      if (!next_is(')')) expect(',');
    }
    return values;
  }

 private:
  void skip_space() {
    const auto space = text_.find_first_not_of(" \t\r\n");
    text_.remove_prefix(std::min(space, text_.size()));
  }

  std::string rest() const { return text_.empty() ? "its end" : quoted(text_); }

  index_t size() {
    skip_space();
    index_t value = 0;
    const auto [stop, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    if (error == std::errc::result_out_of_range) fail("a size is too large: " + rest());
    if (error != std::errc()) fail("expected a size at " + rest());
    if (value < 0) fail("a size is negative: " + rest());
    text_.remove_prefix(static_cast<std::size_t>(stop - text_.data()));
    accept('L');  // Python 2 writes long integers with an L
    return value;
  }

  std::string_view text_;
  const std::string& name_;
};

/// Types that a reader accepts.
enum class Takes : std::uint8_t { real, complex_too, whole };

void take_type(Literal& literal, ArrayHeader& header, Takes takes) {
  if (literal.next_is('[')) literal.fail("structured types are not supported; save float64 or float32");
  const auto type = literal.string();
  constexpr std::array<std::string_view, 14> all{"i1", "i2", "i4", "i8", "u1", "u2", "u4",
                                                 "u8", "b1", "f2", "f4", "f8", "c8", "c16"};
  constexpr std::string_view orders = "<>|";
  const std::string_view name = type.substr(std::min<std::size_t>(1, type.size()));
  const bool known = !type.empty() && orders.find(type[0]) != std::string_view::npos &&
                     std::find(all.begin(), all.end(), name) != all.end() && (type[0] != '|' || name.ends_with('1'));
  const char kind = known ? name[0] : '\0';
  if (kind == 'c' && takes == Takes::real)
    literal.fail("type " + quoted(type) + " is not supported: numbers must be real here; save float64 or float32, as " +
                 "in array.real, or use a command's complex precision, c or z");
  if (!known || (kind == 'c' && takes != Takes::complex_too) || (kind == 'f' && takes == Takes::whole))
    literal.fail("type " + quoted(type) + " is not supported; save " +
                 (takes == Takes::whole         ? "int32 or int64, as in array.astype('i4')"
                  : takes == Takes::complex_too ? "complex128, complex64, float64 or float32, as in array.astype('c16')"
                                                : "float64 or float32, as in array.astype('f8')"));
  const std::size_t bytes = name == "c16" ? 8 : kind == 'c' ? 4 : static_cast<std::size_t>(name[1] - '0');
  header.item = {kind, bytes, bytes > 1 && (type[0] == '<') != (std::endian::native == std::endian::little)};
}

Shape shape_of(const std::vector<index_t>& sizes, const std::string& name) {
  if (sizes.size() > 2)
    throw FileError(name, "in the .npy header: the array has " + std::to_string(sizes.size()) +
                              " dimensions, at most 2 can be read");
  return {sizes.empty() ? 1 : sizes[0], sizes.size() < 2 ? 1 : sizes[1]};
}

ArrayHeader parse_dictionary(Literal literal, Takes takes) {
  ArrayHeader header;
  bool has_type = false;
  bool has_order = false;
  bool has_shape = false;
  const auto once = [&literal](bool& seen, std::string_view key) {
    if (seen) literal.fail(quoted(key) + " occurs twice");
    seen = true;
  };
  literal.expect('{');
  while (!literal.accept('}')) {
    const auto key = literal.string();
    literal.expect(':');
    if (key == "descr") {
      once(has_type, key);
      take_type(literal, header, takes);
    } else if (key == "fortran_order") {
      once(has_order, key);
      header.fortran_order = literal.boolean();
    } else if (key == "shape") {
      once(has_shape, key);
      header.dims = literal.tuple();
    } else {
      literal.fail("unknown key " + quoted(key));
    }
    if (!literal.next_is('}')) literal.expect(',');
  }
  literal.expect_end();
  if (!has_type || !has_order || !has_shape) literal.fail("needs the keys 'descr', 'fortran_order' and 'shape'");
  return header;
}

ArrayHeader parse(std::span<const char> bytes, const std::string& name, Takes takes) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(bytes[i]); };
  constexpr std::size_t magic_bytes = 6;  // recognised already
  if (bytes.size() < magic_bytes + 2) throw FileError(name, "the file ends inside the .npy header");
  const unsigned version = byte(magic_bytes);
  if (version < 1 || version > 3 || byte(magic_bytes + 1) != 0)
    throw FileError(name, "version " + std::to_string(version) + "." + std::to_string(byte(magic_bytes + 1)) +
                              " of the .npy format is not known (1.0, 2.0 and 3.0 are)");
  // The little-endian length of the dictionary follows, then the dictionary.
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  const std::size_t begin = magic_bytes + 2 + length_bytes;
  std::size_t length = 0;
  for (std::size_t i = 0; i < length_bytes && magic_bytes + 2 + i < bytes.size(); ++i)
    length |= std::size_t{byte(magic_bytes + 2 + i)} << (8 * i);
  if (bytes.size() < begin || bytes.size() - begin < length)
    throw FileError(name, "the file ends inside the .npy header");

  ArrayHeader header = parse_dictionary(Literal({bytes.data() + begin, length}, name), takes);
  header.data_offset = begin + length;
  return header;
}

void require_data(std::uint64_t elements, std::size_t item_bytes, std::size_t found, const std::string& shape,
                  const std::string& name) {
  if (found != saturating_mul(elements, item_bytes))
    throw FileError(name, "the header promises " + shape + " values of " + std::to_string(item_bytes) + " bytes, but " +
                              std::to_string(found) + " bytes follow it");
}

}  // namespace

Header parse_header(std::span<const char> bytes, const std::string& name, bool complex_too) {
  const ArrayHeader array = parse(bytes, name, complex_too ? Takes::complex_too : Takes::real);
  const Header header{array.item, array.fortran_order, shape_of(array.dims, name), array.data_offset,
                      array.dims.size() == 1};
  require_data(elements_of(header.shape), array.item_bytes(), bytes.size() - header.data_offset,
               to_string(header.shape), name);
  return header;
}

namespace {

ArrayHeader parse_array(std::span<const char> bytes, const std::string& name, Takes takes) {
  ArrayHeader header = parse(bytes, name, takes);
  std::uint64_t elements = 1;
  std::string shape;
  for (const index_t d : header.dims) {
    elements = saturating_mul(elements, static_cast<std::uint64_t>(d));
    shape += (shape.empty() ? "" : " x ") + std::to_string(d);
  }
  require_data(elements, header.item_bytes(), bytes.size() - header.data_offset, shape.empty() ? "1" : shape, name);
  return header;
}

}  // namespace

ArrayHeader parse_array_header(std::span<const char> bytes, const std::string& name) {
  return parse_array(bytes, name, Takes::complex_too);
}
ArrayHeader parse_whole_header(std::span<const char> bytes, const std::string& name) {
  return parse_array(bytes, name, Takes::whole);
}

}  // namespace tesela::npy
