#include <tesela/runtime/scalar.hpp>
#include <tesela/tiles/io/matrix_market.hpp>
#include <tesela/tiles/io/text_cursor.hpp>
#include <tesela/tiles/size_checks.hpp>

#include <algorithm>
#include <array>
#include <complex>
#include <string_view>
#include <type_traits>

namespace tesela::matrix_market {
namespace {

constexpr std::string_view banner = "%%MatrixMarket";

enum class Field { real, integer, pattern, complex };
enum class Symmetry { general, symmetric, skew_symmetric, hermitian };

struct Header {
  bool coordinate = false;
  Field field = Field::real;
  Symmetry symmetry = Symmetry::general;
  Shape shape;
  std::uint64_t entries = 0;  // number of entries in the file
};

std::string lower_case(std::string_view text) {
  std::string result(text.substr(0, 32));  // longer than every keyword
  for (char& c : result)
    if ('A' <= c && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return result;
}

// Parses the first line: %%MatrixMarket matrix <format> <field> <symmetry>
Header parse_banner(TextCursor& text, bool complex_too) {
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
  if (field == "complex" && !complex_too)
    text.fail("complex matrices are not supported, only real ones: use a complex precision, c or z");
  if (field == "complex") {
    header.field = Field::complex;
  } else if (field == "integer" || field == "unsigned-integer") {
    header.field = Field::integer;
  } else if (field == "pattern") {
    header.field = Field::pattern;
  } else if (field != "real" && field != "double") {
    text.fail("expected the field 'real', 'integer', 'complex' or 'pattern', found " + quoted(field));
  }

  const auto symmetry = lower_case(text.word());
  if (symmetry == "hermitian" && !complex_too)
    text.fail("hermitian matrices are not supported, only real ones: use a complex precision, c or z");
  if (symmetry == "hermitian" && header.field != Field::complex) text.fail("only a complex matrix can be hermitian");
  if (symmetry == "hermitian") {
    header.symmetry = Symmetry::hermitian;
  } else if (symmetry == "symmetric") {
    header.symmetry = Symmetry::symmetric;
  } else if (symmetry == "skew-symmetric") {
    header.symmetry = Symmetry::skew_symmetric;
  } else if (symmetry != "general") {
    text.fail("expected the symmetry 'general', 'symmetric', 'skew-symmetric' or 'hermitian', found " +
              quoted(symmetry));
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
    case Symmetry::hermitian: return saturating_mul(rows, rows + 1) / 2;
    case Symmetry::skew_symmetric: return rows == 0 ? 0 : saturating_mul(rows, rows - 1) / 2;
    case Symmetry::general: break;
  }
  return elements_of(header.shape);
}

// Parses everything before the entries, and checks that the file is long enough for them.
Header parse_header(TextCursor& text, bool complex_too) {
  Header header = parse_banner(text, complex_too);
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

  // The shortest entries are "1", "1 1", "1 1 1" and "1 1 1 1", each on one line; the last line may lack its line end.
  const std::uint64_t values = header.field == Field::pattern ? 0 : header.field == Field::complex ? 2 : 1;
  const std::uint64_t shortest = 2 * (values + (header.coordinate ? 2 : 0));
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
T value_of_entry(TextCursor& text, Field field, bool counts) {
  using Real = real_t<T>;
  T value = field == Field::pattern ? Real{1} : text.real_number<Real>(field == Field::integer, counts);
  if constexpr (is_complex<T>)
    if (field == Field::complex) value.imag(text.real_number<Real>(false, counts));
  text.expect_line_end("the entry");
  return value;
}

/// Returns the mirror image of an entry. On the diagonal (i == j) it must equal the entry.
template <class T>
T mirrored(TextCursor& text, Symmetry symmetry, T value, bool diagonal) {
  if (symmetry == Symmetry::skew_symmetric) {
    if (diagonal && value != T{0}) text.fail("a skew-symmetric matrix has a zero diagonal");
    return -value;
  }
  if constexpr (is_complex<T>)
    if (symmetry == Symmetry::hermitian) {
      if (diagonal && value.imag() != 0) text.fail("a hermitian matrix has a real diagonal");
      return std::conj(value);
    }
  return value;
}

/// Returns whether the entry or its mirrored entry counts.
bool entry_counts(const Counted& counts, Symmetry symmetry, index_t i, index_t j) {
  return !counts || counts(i, j) || (symmetry != Symmetry::general && counts(j, i));
}

/// Stores an element in a matrix, or passes it to a sink.
template <class T>
void put(HostMatrix<T>& matrix, index_t i, index_t j, T value) {
  matrix(i, j) = value;
}
template <class T>
void put(const std::function<void(index_t, index_t, T)>& sink, index_t i, index_t j, T value) {
  sink(i, j, value);
}

template <class T, class Matrix>
void read_array(TextCursor& text, const Header& header, Matrix& matrix, const Counted& counts) {
  if (header.entries == 0) return;  // there may be very many empty columns
  const bool skew = header.symmetry == Symmetry::skew_symmetric;
  std::uint64_t done = 0;
  for (index_t j = 0; j < header.shape.cols; ++j) {
    const index_t first = header.symmetry == Symmetry::general ? 0 : skew ? j + 1 : j;
    for (index_t i = first; i < header.shape.rows; ++i) {
      next_entry(text, done++, header.entries);
      const T value = value_of_entry<T>(text, header.field, entry_counts(counts, header.symmetry, i, j));
      put(matrix, i, j, value);
      if (header.symmetry == Symmetry::general) continue;
      const T other = mirrored(text, header.symmetry, value, i == j);
      if (i != j) put(matrix, j, i, other);
    }
  }
}

index_t index_of_entry(TextCursor& text, const char* what, index_t size) {
  const index_t index = text.whole_number(what);
  if (index < 1 || index > size)
    text.fail(std::string(what) + " is " + std::to_string(index) + ", outside 1 to " + std::to_string(size));
  return index - 1;
}

template <class T, class Matrix>
void read_coordinate(TextCursor& text, const Header& header, Matrix& matrix, const Counted& counts) {
  const bool general = header.symmetry == Symmetry::general;
  for (std::uint64_t done = 0; done < header.entries; ++done) {
    next_entry(text, done, header.entries);
    const index_t i = index_of_entry(text, "the row", header.shape.rows);
    const index_t j = index_of_entry(text, "the column", header.shape.cols);
    const T value = value_of_entry<T>(text, header.field, entry_counts(counts, header.symmetry, i, j));
    if (!general && i < j) text.fail("an entry above the diagonal: symmetric files hold the lower triangle only");
    if (!general) mirrored(text, header.symmetry, value, i == j);
    T sum = value;
    if constexpr (std::is_same_v<Matrix, HostMatrix<T>>) sum += matrix(i, j);
    if (!is_finite(sum)) text.fail("the sum of the values given for this place is not finite");
    put(matrix, i, j, sum);
    if (!general && i != j) put(matrix, j, i, mirrored(text, header.symmetry, sum, false));
  }
}

template <class T, class Matrix>
void read_entries(TextCursor& text, const Header& header, Matrix& matrix, const Counted& counts = {}) {
  header.coordinate ? read_coordinate<T>(text, header, matrix, counts) : read_array<T>(text, header, matrix, counts);
  if (text.next_line()) text.fail("the file goes on after all " + std::to_string(header.entries) + " entries");
}

}  // namespace

bool recognise(std::span<const char> bytes) {
  const std::string_view start(bytes.data(), std::min(bytes.size(), banner.size()));
  return lower_case(start) == lower_case(banner);
}

MatrixFileInfo probe(std::span<const char> bytes, const std::string& name) {
  TextCursor text(bytes, name);
  const Header header = parse_header(text, true);
  return {header.coordinate ? MatrixFileFormat::matrix_market_coordinate : MatrixFileFormat::matrix_market_array,
          header.shape,
          FilePrecision::text,
          false,
          header.coordinate ? header.entries : 0,
          header.field == Field::complex};
}

template <class T>
HostMatrix<T> read(std::span<const char> bytes, const std::string& name, std::uint64_t max_bytes,
                   const Counted& counts) {
  TextCursor text(bytes, name);
  const Header header = parse_header(text, is_complex<T>);
  require_fits(header.shape, sizeof(T), name, max_bytes);
  // An array fills every element, except that a skew-symmetric array has no diagonal.
  const bool filled = !header.coordinate && header.symmetry != Symmetry::skew_symmetric;
  auto matrix = filled ? HostMatrix<T>(header.shape.rows, header.shape.cols)
                       : HostMatrix<T>::zeros(header.shape.rows, header.shape.cols);
  read_entries<T>(text, header, matrix, counts);
  return matrix;
}

template <class T>
void for_each_entry(std::span<const char> bytes, const std::string& name,
                    const std::function<void(index_t, index_t, T)>& sink) {
  TextCursor text(bytes, name);
  const Header header = parse_header(text, is_complex<T>);
  read_entries<T>(text, header, sink);
}

void write_header(AtomicFile& file, Shape whole, bool complex) {
  file.write(std::string(banner) + " matrix array " + (complex ? "complex" : "real") + " general\n" +
             std::to_string(whole.rows) + ' ' + std::to_string(whole.cols) + '\n');
}

template <class T>
void write(AtomicFile& file, const T* data, Shape shape, index_t ld) {
  write_header(file, shape, is_complex<T>);
  write_columns(file, data, shape, ld);
}

template <class T>
void write_columns(AtomicFile& file, const T* data, Shape shape, index_t ld) {
  if (shape.rows == 0) return;  // there may be very many empty columns
  for (index_t j = 0; j < shape.cols; ++j) {
    for (index_t i = 0; i < shape.rows; ++i) {
      const T value = data[i + j * ld];
      file.write(Decimal(real_part(value)).text());
      if constexpr (is_complex<T>) {
        file.write(" ");
        file.write(Decimal(value.imag()).text());
      }
      file.write("\n");
    }
  }
}

TESELA_FUNCTIONS_FOR_NUMBERS(read, for_each_entry, write_columns, write)

}  // namespace tesela::matrix_market
