#include <tesela/runtime/scalar.hpp>
#include <tesela/tiles/io/plain_text.hpp>
#include <tesela/tiles/io/text_cursor.hpp>
#include <tesela/tiles/size_checks.hpp>

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <string_view>

namespace tesela::plain_text {
namespace {

constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

TextCursor cursor(std::span<const char> bytes, const std::string& name) {
  const bool marked = std::string_view(bytes.data(), bytes.size()).starts_with(byte_order_mark);
  return {marked ? bytes.subspan(byte_order_mark.size()) : bytes, name, TextKind::table};
}

/// Returns whether the word begins with a number, and has nothing else but an exponent of Fortran.
bool is_number(std::string_view word) {
  if (word.starts_with('+')) word.remove_prefix(1);
  double value = 0;
  const char* const end = word.data() + word.size();
  const char* const stop = std::from_chars(word.data(), end, value).ptr;
  return stop != word.data() && (stop == end || *stop == 'd' || *stop == 'D');
}

/// Parses "# 0 x 3", the whole text of an empty matrix.
bool parse_empty(std::span<const char> bytes, Shape& shape) {
  const std::string line(bytes.data(), std::min<std::size_t>(bytes.size(), 64));
  long long rows = -1, cols = -1;
  if (std::sscanf(line.c_str(), "# %lld x %lld", &rows, &cols) != 2) return false;
  shape = {rows, cols};
  return rows >= 0 && cols >= 0 && (rows == 0 || cols == 0);
}

Shape shape_of(std::span<const char> bytes, const std::string& name) {
  TextCursor text = cursor(bytes, name);
  Shape shape;
  if (!text.next_line()) {
    parse_empty(bytes, shape);
    return shape;
  }
  bool open = false;  // the number after a separator is missing
  for (; !text.at_line_end() || open; ++shape.cols) {
    text.word();
    open = text.skip_separator();
  }
  do {
    ++shape.rows;
    text.skip_line();
  } while (text.next_line());
  return shape;
}

}  // namespace

bool recognise(std::span<const char> bytes) {
  const std::string name;
  TextCursor text = cursor(bytes, name);
  Shape shape;
  return text.next_line() ? is_number(text.word()) : parse_empty(bytes, shape);
}

MatrixFileInfo probe(std::span<const char> bytes, const std::string& name) {
  const Shape shape = shape_of(bytes, name);
  return {MatrixFileFormat::plain_text, shape, FilePrecision::text, shape.cols == 1};
}

template <class T>
HostMatrix<T> read(std::span<const char> bytes, const std::string& name, std::uint64_t max_bytes,
                   const Counted& counts) {
  const Shape shape = shape_of(bytes, name);
  require_fits(shape, sizeof(T), name, max_bytes);
  HostMatrix<T> matrix(shape.rows, shape.cols);
  TextCursor text = cursor(bytes, name);
  for (index_t i = 0; i < shape.rows && text.next_line(); ++i)
    for (index_t j = 0; j < shape.cols; ++j) {
      if (j > 0 && text.at_line_end())
        text.fail("the row has " + std::to_string(j) + " numbers, and the first row has " + std::to_string(shape.cols));
      if (j > 0) text.skip_separator();
      matrix(i, j) = text.real_number<real_t<T>>(false, !counts || counts(i, j), j + 1);
      if (j + 1 == shape.cols && !text.at_line_end())
        text.fail("the row has more numbers than the first row, which has " + std::to_string(shape.cols));
    }
  return matrix;
}

template <class T>
void write(AtomicFile& file, const T* data, Shape shape, index_t ld, char separator) {
  if (shape.rows == 0 || shape.cols == 0) return file.write("# " + to_string(shape) + "\n");
  for (index_t i = 0; i < shape.rows; ++i) {
    for (index_t j = 0; j < shape.cols; ++j) {
      if (j > 0) file.write({&separator, 1});
      file.write(Decimal(real_part(data[i + j * ld])).text());
    }
    file.write("\n");
  }
}

TESELA_FUNCTIONS_FOR_NUMBERS(read, write)

}  // namespace tesela::plain_text
