#pragma once

#include <tesela/runtime/types.hpp>
#include <tesela/tiles/io/file_formats.hpp>

#include <cstdint>
#include <span>
#include <string>

// The plain-text part of file_formats.hpp, which documents formats and errors.

namespace tesela::plain_text {

/// Returns whether the text, after comments, begins with a number. A text with comments alone begins with the line
/// that write() writes for an empty matrix.
bool recognise(std::span<const char> bytes);

/// Returns the description of the file without reading its numbers. Throws FileError if it is malformed.
MatrixFileInfo probe(std::span<const char> bytes, const std::string& name);

/// Reads the whole file, of at most max_bytes as a matrix of T. Throws FileError.
template <class T>
HostMatrix<T> read(std::span<const char> bytes, const std::string& name, std::uint64_t max_bytes,
                   const Counted& counts = {});

/// Appends the whole file: a line per row, with `separator` between its numbers. An empty matrix is a comment with its
/// sizes, "# 0 x 3". All values must be finite.
template <class T>
void write(AtomicFile& file, const T* data, Shape shape, index_t ld, char separator);

}  // namespace tesela::plain_text
