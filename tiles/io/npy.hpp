#pragma once

#include <tesela/runtime/access.hpp>
#include <tesela/tiles/io/file_formats.hpp>
#include <tesela/tiles/io/npy_header.hpp>

#include <cstdint>
#include <span>
#include <string>

// The NumPy half of file_formats.hpp, which documents what is accepted. Errors are as stated there.

namespace tesela::npy {

/// Whether the bytes begin as a .npy file does.
bool recognise(std::span<const char> bytes);

MatrixFileInfo probe(std::span<const char> bytes, const std::string& name);

template <class T>
HostMatrix<T> read(std::span<const char> bytes, const std::string& name, std::uint64_t max_bytes,
                   const Counted& counts = {});

/// Rows first … first + out.rows - 1 of a file whose header has been parsed: all columns, or these, in this order. They
/// must exist. NaN is refused, or with `nans` is a value as others. `counts` is of the file's rows and columns.
template <class T>
void read_rows(std::span<const char> bytes, const Header& header, const std::string& name, index_t first,
               const Block<T>& out, std::span<const index_t> columns = {}, bool nans = false,
               const Counted& counts = {});

/// What stands before the values, which follow in Fortran order.
template <class T>
std::string header_text(Shape shape);

/// Appends the whole file, in Fortran order.
template <class T>
void write(AtomicFile& file, const T* data, Shape shape, index_t ld);

}  // namespace tesela::npy
