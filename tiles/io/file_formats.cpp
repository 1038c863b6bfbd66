#include <tesela/runtime/require.hpp>
#include <tesela/runtime/scalar.hpp>
#include <tesela/tiles/io/arrays.hpp>
#include <tesela/tiles/io/file_formats.hpp>
#include <tesela/tiles/io/mapped_file.hpp>
#include <tesela/tiles/io/matrix_market.hpp>
#include <tesela/tiles/io/npy.hpp>
#include <tesela/tiles/io/plain_text.hpp>
#include <tesela/tiles/io/reading.hpp>
#include <tesela/tiles/size_checks.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <unistd.h>

namespace tesela {
namespace {

[[noreturn]] void fail_unrecognised(const std::string& name) {
  throw FileError(name,
                  "is neither a Matrix Market (%%MatrixMarket) nor a NumPy (.npy) file nor a table of numbers; a table "
                  "with named columns is read with a formula, or without its header line");
}

std::string extension_of(const std::string& path) {
  auto extension = std::filesystem::path(path).extension().string();
  for (char& c : extension)
    if ('A' <= c && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return extension;
}

template <class T>
void require_finite(const T* data, Shape shape, index_t ld) {
  if (shape.rows == 0) return;  // there may be very many empty columns
  for (index_t j = 0; j < shape.cols; ++j) {
    const T* const column = data + j * ld;
    const T* const found = std::find_if(column, column + shape.rows, [](T value) { return !is_finite(value); });
    if (found == column + shape.rows) continue;
    require(false, "write_matrix", "data", "the value at [", found - column, ", ", j, "] (from zero) is ",
            std::isnan(largest_part(*found)) ? "NaN" : "infinite");
  }
}

}  // namespace

MatrixFileFormat format_of_name(const std::string& path) {
  const std::string extension = extension_of(path);
  if (extension == ".npy") return MatrixFileFormat::npy;
  if (extension == ".txt" || extension == ".csv") return MatrixFileFormat::plain_text;
  if (extension.empty() || extension == ".mtx" || extension == ".mm") return MatrixFileFormat::matrix_market_array;
  throw FileError(path, "cannot write: '" + extension + "' is not a format to write; use .mtx, .npy, .csv or .txt");
}

char separator_of_name(const std::string& path) { return extension_of(path) == ".csv" ? ',' : ' '; }

std::uint64_t physical_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page_bytes = sysconf(_SC_PAGESIZE);
  return saturating_mul(static_cast<std::uint64_t>(std::max(pages, 0L)),
                        static_cast<std::uint64_t>(std::max(page_bytes, 0L)));
}

template <class T>
HostMatrix<T> read_matrix_bytes(std::span<const char> bytes, const std::string& name, std::uint64_t max_bytes,
                                const Counted& counts) {
  const Reading reading(name, bytes.size());
  if (matrix_market::recognise(bytes)) return matrix_market::read<T>(bytes, name, max_bytes, counts);
  if (npy::recognise(bytes)) return npy::read<T>(bytes, name, max_bytes, counts);
  if (plain_text::recognise(bytes)) return plain_text::read<T>(bytes, name, max_bytes, counts);
  fail_unrecognised(name);
}

MatrixFileInfo probe_matrix_bytes(std::span<const char> bytes, const std::string& name) {
  if (matrix_market::recognise(bytes)) return matrix_market::probe(bytes, name);
  if (npy::recognise(bytes)) return npy::probe(bytes, name);
  if (plain_text::recognise(bytes)) return plain_text::probe(bytes, name);
  fail_unrecognised(name);
}

template <class T>
HostMatrix<T> read_matrix(const std::string& path, const Counted& counts) {
  return read_matrix_bytes<T>(MappedFile(path).bytes(), path, physical_memory(), counts);
}

MatrixFileInfo probe_matrix(const std::string& path) { return probe_matrix_bytes(MappedFile(path).bytes(), path); }

template <class T>
void write_matrix(const std::string& path, const T* data, Shape shape, index_t ld) {
  require(shape.rows >= 0 && shape.cols >= 0, "write_matrix", "shape", shape, " is negative");
  require(ld >= std::max<index_t>(shape.rows, 1), "write_matrix", "ld", ld, " is less than max(rows, 1)");
  require(data != nullptr || shape.rows == 0 || shape.cols == 0, "write_matrix", "data", "is null");
  require_finite(data, shape, ld);

  const MatrixFileFormat format = format_of_name(path);
  if (is_complex<T> && format == MatrixFileFormat::plain_text)
    throw FileError(path, "plain text holds real numbers only; write complex ones as .npy or .mtx");
  AtomicFile file(path);
  if (format == MatrixFileFormat::npy)
    npy::write(file, data, shape, ld);
  else if (format == MatrixFileFormat::plain_text)
    plain_text::write(file, data, shape, ld, separator_of_name(path));
  else
    matrix_market::write(file, data, shape, ld);
  file.commit();
}

template <class T>
void write_vector(const std::string& path, const T* data, index_t n) {
  if (format_of_name(path) != MatrixFileFormat::npy) return write_matrix(path, data, {n, 1}, std::max<index_t>(n, 1));
  require_finite(data, {n, 1}, n);
  write_array(path, {n}, data);
}

void require_writable(const std::string& path) {
  format_of_name(path);
  require_creatable(path);
}

TESELA_FUNCTIONS_FOR_NUMBERS(read_matrix, read_matrix_bytes, write_vector)
#define TESELA_INSTANTIATE(T) template void write_matrix<T>(const std::string&, const T*, Shape, index_t);
TESELA_FOR_NUMBERS(TESELA_INSTANTIATE)

}  // namespace tesela
