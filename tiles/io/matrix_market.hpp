#pragma once

#include <tesela/runtime/types.hpp>
#include <tesela/tiles/io/file_formats.hpp>

#include <cstdint>
#include <functional>
#include <span>
#include <string>

// The Matrix Market part of file_formats.hpp, which documents formats and errors.

namespace tesela::matrix_market {

/// Returns whether the bytes begin like a Matrix Market file.
bool recognise(std::span<const char> bytes);

/// Returns the description of the file without reading its numbers. Throws FileError if it is malformed.
MatrixFileInfo probe(std::span<const char> bytes, const std::string& name);

/// Reads the whole file. T is float, double or their std::complex, which also reads complex, hermitian and real files.
template <class T>
HostMatrix<T> read(std::span<const char> bytes, const std::string& name, std::uint64_t max_bytes,
                   const Counted& counts = {});

/// Reads as read(), without a matrix: calls sink(i, j, value) for each entry, including mirrored ones. The sink must
/// sum repeated entries.
template <class T>
void for_each_entry(std::span<const char> bytes, const std::string& name,
                    const std::function<void(index_t, index_t, T)>& sink);

/// write() appends a whole file; write_header() and the next function its beginning and some columns. All values must
/// be finite.
template <class T>
void write(AtomicFile& file, const T* data, Shape shape, index_t ld);
void write_header(AtomicFile& file, Shape whole, bool complex);
template <class T>
void write_columns(AtomicFile& file, const T* data, Shape shape, index_t ld);

}  // namespace tesela::matrix_market
