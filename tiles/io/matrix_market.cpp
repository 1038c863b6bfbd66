#include <tesela/runtime/errors.hpp>
#include <tesela/tiles/io/matrix_market.hpp>
#include <tesela/tiles/io/text_cursor.hpp>
#include <tesela/tiles/size_checks.hpp>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

namespace tesela::matrix_market {
namespace {

constexpr std::string_view banner = "%%MatrixMarket";

enum class Field { real, integer, pattern };
enum class Symmetry { general, symmetric, skew_symmetric };

struct Header {
  bool coordinate = false;
  Field field = Field::real;
  Symmetry symmetry = Symmetry::general;
  Shape shape;
  std::uint64_t entries = 0;  // that the file lists
};

std::string lower_case(std::string_view text) {
  std::string result(text.substr(0, 32));  // longer than every keyword
  for (char& c : result)
    if ('A' <= c && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

// The first line: %%MatrixMarket matrix <format> <field> <symmetry>
Header parse_banner(TextCursor& text) {
  if (const auto first = text.word(); first.size() != banner.size())
    text.fail("expected " + std::string(banner) + ", found " + quoted(first));
  Header header;
  const auto object = lower_case(text.word());
  if (object != "matrix") text.fail("expected 'matrix' after " + std::string(banner) + ", found " + quoted(object));

  const auto format = lower_case(text.word());
  header.coordinate = format == "coordinate";
  if (!header.coordinate && format != "array")
    text.fail("expected the format 'array' or 'coordinate', found " + quoted(format));

  const auto field = lower_case(text.word());
  if (field == "complex") text.fail("complex matrices are not supported, only real ones");
  if (field == "integer" || field == "unsigned-integer") {
    header.field = Field::integer;
  } else if (field == "pattern") {
    header.field = Field::pattern;
  } else if (field != "real" && field != "double") {
    text.fail("expected the field 'real', 'integer' or 'pattern', found " + quoted(field));
  }

  const auto symmetry = lower_case(text.word());
  if (symmetry == "hermitian") text.fail("hermitian matrices are not supported, only real ones");
  if (symmetry == "symmetric") {
    header.symmetry = Symmetry::symmetric;
  } else if (symmetry == "skew-symmetric") {
    header.symmetry = Symmetry::skew_symmetric;
  } else if (symmetry != "general") {
    text.fail("expected the symmetry 'general', 'symmetric' or 'skew-symmetric', found " + quoted(symmetry));
  }
  text.expect_line_end("the symmetry");

  if (header.field == Field::pattern && !header.coordinate) text.fail("an array cannot be a pattern");
  if (header.field == Field::pattern && header.symmetry == Symmetry::skew_symmetric)
    text.fail("a pattern cannot be skew-symmetric");
  return header;
}

std::uint64_t entries_of_array(const Header& header) {
  const auto rows = static_cast<std::uint64_t>(header.shape.rows);
  switch (header.symmetry) {
    case Symmetry::symmetric:
      return saturating_mul(rows, rows + 1) / 2;
    case Symmetry::skew_symmetric:
      return rows == 0 ? 0 : saturating_mul(rows, rows - 1) / 2;
    case Symmetry::general:
      break;
  }
  return elements_of(header.shape);
}

// Everything before the entries. What comes out can be believed: the file is long enough to hold that many.
Header parse_header(TextCursor& text) {
  Header header = parse_banner(text);
  if (!text.next_line()) text.fail("the file ends before the line with the sizes");
  header.shape.rows = text.whole_number("the number of rows");
  header.shape.cols = text.whole_number("the number of columns");
  index_t listed = 0;
  if (header.coordinate) listed = text.whole_number("the number of entries");
  text.expect_line_end("the sizes");
  if (header.shape.rows < 0 || header.shape.cols < 0 || listed < 0) text.fail("a size is negative");
  if (header.symmetry != Symmetry::general && header.shape.rows != header.shape.cols)
    text.fail("a symmetric matrix must be square, not " + to_string(header.shape));
  header.entries = header.coordinate ? static_cast<std::uint64_t>(listed) : entries_of_array(header);

  // The shortest entries are "1", "1 1" and "1 1 1", each on a line of its own; the last line may lack its end.
  const std::uint64_t shortest = !header.coordinate ? 2 : header.field == Field::pattern ? 4 : 6;
  if (saturating_mul(header.entries, shortest) > text.remaining())
    text.fail("the sizes ask for " + std::to_string(header.entries) + " entries, but only " +
              std::to_string(text.remaining()) + " bytes follow");
  return header;
}

void next_entry(TextCursor& text, std::uint64_t done, std::uint64_t entries) {
  if (!text.next_line())
    text.fail("the file ends after " + std::to_string(done) + " of " + std::to_string(entries) + " entries");
}

template <class T>
T value_of_entry(TextCursor& text, Field field) {
  const T value = field == Field::pattern ? T{1} : text.real_number<T>(field == Field::integer);
  text.expect_line_end("the entry");
  return value;
}

template <class T>
void read_array(TextCursor& text, const Header& header, HostMatrix<T>& matrix) {
  if (header.entries == 0) return;  // and there may be a great many empty columns
  const bool skew = header.symmetry == Symmetry::skew_symmetric;
  std::uint64_t done = 0;
  for (index_t j = 0; j < matrix.cols(); ++j) {
    const index_t first = header.symmetry == Symmetry::general ? 0 : skew ? j + 1 : j;
    for (index_t i = first; i < matrix.rows(); ++i) {
      next_entry(text, done++, header.entries);
      const T value = value_of_entry<T>(text, header.field);
      matrix(i, j) = value;
      if (header.symmetry != Symmetry::general) matrix(j, i) = skew ? -value : value;
    }
  }
}

index_t index_of_entry(TextCursor& text, const char* what, index_t size) {
  const index_t index = text.whole_number(what);
  if (index < 1 || index > size)
    text.fail(std::string(what) + " is " + std::to_string(index) + ", outside 1 to " + std::to_string(size));
  return index - 1;
}

template <class T>
void read_coordinate(TextCursor& text, const Header& header, HostMatrix<T>& matrix) {
  const bool general = header.symmetry == Symmetry::general;
  const bool skew = header.symmetry == Symmetry::skew_symmetric;
  for (std::uint64_t done = 0; done < header.entries; ++done) {
    next_entry(text, done, header.entries);
    const index_t i = index_of_entry(text, "the row", matrix.rows());
    const index_t j = index_of_entry(text, "the column", matrix.cols());
    const T value = value_of_entry<T>(text, header.field);
    if (!general && i < j) text.fail("an entry above the diagonal: symmetric files hold the lower triangle only");
    if (skew && i == j && value != T{0}) text.fail("a skew-symmetric matrix has a zero diagonal");
    const T sum = matrix(i, j) + value;
    if (!std::isfinite(sum)) text.fail("the sum of the values given for this place is not finite");
    matrix(i, j) = sum;
    if (!general && i != j) matrix(j, i) = skew ? -sum : sum;
  }
}

}  // namespace

bool recognise(std::span<const char> bytes) {
  const std::string_view start(bytes.data(), std::min(bytes.size(), banner.size()));
  return lower_case(start) == lower_case(banner);
}

MatrixFileInfo probe(std::span<const char> bytes, const std::string& name) {
  TextCursor text(bytes, name);
  const Header header = parse_header(text);
  return {header.coordinate ? MatrixFileFormat::matrix_market_coordinate : MatrixFileFormat::matrix_market_array,
          header.shape, FilePrecision::text};
}

template <class T>
HostMatrix<T> read(std::span<const char> bytes, const std::string& name, std::uint64_t max_bytes) {
  TextCursor text(bytes, name);
  const Header header = parse_header(text);
  require_fits(header.shape, sizeof(T), name, max_bytes);
  // An array fills every element but the diagonal of a skew-symmetric one.
  const bool filled = !header.coordinate && header.symmetry != Symmetry::skew_symmetric;
  auto matrix = filled ? HostMatrix<T>(header.shape.rows, header.shape.cols)
                       : HostMatrix<T>::zeros(header.shape.rows, header.shape.cols);
  header.coordinate ? read_coordinate(text, header, matrix) : read_array(text, header, matrix);
  if (text.next_line()) text.fail("the file goes on after all " + std::to_string(header.entries) + " entries");
  return matrix;
}

template <class T>
void write(AtomicFile& file, const T* data, Shape shape, index_t ld) {
  file.write(std::string(banner) + " matrix array real general\n" + std::to_string(shape.rows) + ' ' +
             std::to_string(shape.cols) + '\n');
  if (shape.rows == 0) return;  // and there may be a great many empty columns
  std::array<char, 32> line;    // the longest shortest double has 24 characters
  for (index_t j = 0; j < shape.cols; ++j) {
    for (index_t i = 0; i < shape.rows; ++i) {
      char* const end = std::to_chars(line.data(), line.data() + line.size() - 1, data[i + j * ld]).ptr;
      *end = '\n';
      file.write(line.data(), static_cast<std::size_t>(end + 1 - line.data()));
    }
  }
}

template HostMatrix<float> read<float>(std::span<const char>, const std::string&, std::uint64_t);
template HostMatrix<double> read<double>(std::span<const char>, const std::string&, std::uint64_t);
template void write<float>(AtomicFile&, const float*, Shape, index_t);
template void write<double>(AtomicFile&, const double*, Shape, index_t);

}  // namespace tesela::matrix_market
