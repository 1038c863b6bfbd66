#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/scalar.hpp>
#include <tesela/tiles/io/kept_value.hpp>
#include <tesela/tiles/io/npy.hpp>
#include <tesela/tiles/io/npy_items.hpp>
#include <tesela/tiles/io/reading.hpp>
#include <tesela/tiles/size_checks.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <string_view>
#include <type_traits>

namespace tesela::npy {
namespace {

constexpr std::string_view magic = "\x93NUMPY";

/// Describes a value that `T` does not keep.
template <class Number>
std::string describe(Number number) {
  if constexpr (std::is_integral_v<Number>)
    if (!holds(number))
      return "is " + std::to_string(number) +
             ", an integer that double precision does not hold; save float64 to round it";
  const auto value = static_cast<double>(number);
  if (std::isnan(value)) return "is NaN";
  if (std::isinf(value)) return "is infinite";
  std::array<char, 32> digits;
  char* const end = std::to_chars(digits.data(), digits.data() + digits.size(), value).ptr;
  return "does not fit single precision: " + std::string(digits.data(), end) +
         "; scale the data by a power of two, or use double precision";
}

/// Returns the real part of x (0), or the imaginary one (1).
template <class T>
real_t<T>& part_of(T& x, std::size_t part) {
  return reinterpret_cast<real_t<T>*>(&x)[part];
}

// Converts the real or the imaginary parts of rows from `first` on, in the file's type and order; all columns if
// `columns` is empty.
template <class Number, bool swapped, class T>
void convert(const char* values, const Header& header, const std::string& name, index_t first, const Block<T>& out,
             std::span<const index_t> columns, bool nans, const Counted& counts, std::size_t part = 0) {
  using Real = real_t<T>;
  const auto [rows, cols] = out.shape();
  const std::size_t parts = header.parts();
  if (rows == 0 || cols == 0) return;  // there may be very many empty columns
  const index_t row_step = header.fortran_order ? 1 : header.shape.cols;
  const index_t col_step = header.fortran_order ? header.shape.rows : 1;
  const auto column = [=](index_t j) { return columns.empty() ? j : columns[static_cast<std::size_t>(j)]; };
  const auto item = [=](index_t i, index_t j) {
    const auto at = static_cast<std::size_t>((first + i) * row_step + j * col_step);
    return load<Number, swapped>(values + (at * parts + part) * sizeof(Number));
  };
  // A part far below the other one may lose digits.
  const auto beside = [&](index_t i, index_t j, double lost) {
    if (parts == 1) return false;
    const auto at = static_cast<std::size_t>((first + i) * row_step + j * col_step);
    const auto other = static_cast<double>(load<Number, swapped>(values + (at * parts + 1 - part) * sizeof(Number)));
    return lost <= static_cast<double>(std::numeric_limits<Real>::epsilon()) * std::abs(other);
  };

  // In blocks, so that a C-ordered matrix is transposed within the cache; a Fortran-ordered matrix column by column.
  const index_t block_rows = header.fortran_order ? rows : 64;
  const index_t block_cols = header.fortran_order ? 1 : 64;
  for (index_t j0 = 0; j0 < cols; j0 += block_cols) {
    const index_t j1 = std::min(cols, j0 + block_cols);
    for (index_t i0 = 0; i0 < rows; i0 += block_rows) {
      const index_t i1 = std::min(rows, i0 + block_rows);
      bool kept = true;
      for (index_t j = j0; j < j1; ++j) {
        const index_t from = column(j);
        for (index_t i = i0; i < i1; ++i) {
          const auto value = item(i, from);
          const Real rounded = part_of(out(i, j), part) = static_cast<Real>(value);
          kept &= holds(value) && keeps(static_cast<double>(value), rounded);
        }
      }
      if (kept) continue;
      for (index_t j = j0; j < j1; ++j)
        for (index_t i = i0; i < i1; ++i) {
          const auto number = item(i, column(j));
          const auto value = static_cast<double>(number);
          Real& rounded = part_of(out(i, j), part);
          if ((holds(number) && keeps(value, rounded)) || (nans && std::isnan(value))) continue;
          if (beside(i, column(j), std::abs(value - static_cast<double>(rounded)))) continue;
          if (!counts || counts(first + i, column(j))) {
            const std::string which = parts == 1 ? "" : part == 0 ? "the real part of " : "the imaginary part of ";
            const std::string problem = which + "the value at [" + std::to_string(first + i) + ", " +
                                        std::to_string(column(j)) + "] (from zero) " + describe(number);
            if (holds(number) && std::isfinite(value)) throw PrecisionError(name, problem);
            throw FileError(name, problem);
          }
          rounded = 0;
        }
    }
    Reading::store_read(static_cast<std::uint64_t>(rows * j1) * parts * sizeof(Number));
  }
}

}  // namespace

bool recognise(std::span<const char> bytes) { return std::string_view(bytes.data(), bytes.size()).starts_with(magic); }

MatrixFileInfo probe(std::span<const char> bytes, const std::string& name) {
  const Header header = parse_header(bytes, name, true);
  const bool complex = header.item.kind == 'c', single = (complex || header.item.kind == 'f') && header.item.bytes <= 4;
  return {.format = MatrixFileFormat::npy,
          .shape = header.shape,
          .precision = single ? FilePrecision::single_precision : FilePrecision::double_precision,
          .vector = header.vector,
          .complex = complex};
}

template <class T>
void read_rows(std::span<const char> bytes, const Header& header, const std::string& name, index_t first,
               const Block<T>& out, std::span<const index_t> columns, bool nans, const Counted& counts) {
  const char* const values = bytes.data() + header.data_offset;
  with_type(header.item, [&]<class Number, bool swapped>() {
    if constexpr (is_complex<T>) {
      for (index_t j = 0; j < out.cols && header.parts() == 1 && out.rows > 0; ++j)
        std::fill_n(&out(0, j), out.rows, T(0));
      for (std::size_t part = 0; part < header.parts(); ++part)
        convert<Number, swapped>(values, header, name, first, out, columns, nans, counts, part);
    } else {
      convert<Number, swapped>(values, header, name, first, out, columns, nans, counts);
    }
  });
}

template <class T>
HostMatrix<T> read(std::span<const char> bytes, const std::string& name, std::uint64_t max_bytes,
                   const Counted& counts) {
  const Header header = parse_header(bytes, name, is_complex<T>);
  require_fits(header.shape, sizeof(T), name, max_bytes);
  HostMatrix<T> matrix(header.shape.rows, header.shape.cols);
  read_rows(bytes, header, name, 0, Block<T>{matrix.data(), matrix.rows(), matrix.cols(), matrix.ld()}, {}, false,
            counts);
  return matrix;
}

template <class T>
std::string header_text(Shape shape, bool by_rows) {
  std::string header = "{'descr': '";
  header += std::endian::native == std::endian::little ? '<' : '>';
  header += (is_complex<T> ? 'c' : 'f') + std::to_string(sizeof(T)) +
            "', 'fortran_order': " + (by_rows ? "False" : "True") + ", 'shape': (" + std::to_string(shape.rows) + ", " +
            std::to_string(shape.cols) + "), }";
  constexpr std::size_t prefix_bytes = 10;                             // magic, version, length
  while ((prefix_bytes + header.size() + 1) % 64 != 0) header += ' ';  // the format requires aligned values
  header += '\n';

  const char prefix[] = {1, 0, static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  return std::string(magic) + std::string(prefix, sizeof prefix) + header;
}

template <class T>
void write(AtomicFile& file, const T* data, Shape shape, index_t ld) {
  file.write(header_text<T>(shape));
  if (shape.rows == 0) return;  // there may be very many empty columns
  const auto column_bytes = static_cast<std::size_t>(shape.rows) * sizeof(T);
  if (ld == shape.rows) return file.write(data, column_bytes * static_cast<std::size_t>(shape.cols));
  for (index_t j = 0; j < shape.cols; ++j) file.write(data + j * ld, column_bytes);
}

TESELA_FUNCTIONS_FOR_NUMBERS(read_rows, header_text, read, write)

template <class T>
RowFile<T>::RowFile(const std::string& path, Shape shape) : file_(path), row_(static_cast<std::size_t>(shape.cols)) {
  file_.write(header_text<T>(shape, true));
}

template <class T>
void RowFile<T>::append(const Block<T>& rows) {
  for (index_t i = 0; i < rows.rows; ++i) {
    for (index_t j = 0; j < rows.cols; ++j) row_[static_cast<std::size_t>(j)] = rows(i, j);
    file_.write(row_.data(), row_.size() * sizeof(T));
  }
}

TESELA_CLASSES_FOR_NUMBERS(RowFile)

}  // namespace tesela::npy
