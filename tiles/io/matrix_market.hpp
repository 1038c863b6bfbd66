#pragma once

#include <tesela/runtime/types.hpp>
#include <tesela/tiles/io/file_formats.hpp>

#include <cstdint>
#include <span>
#include <string>

// The Matrix Market half of file_formats.hpp, which documents what is accepted. Errors are as stated there.

namespace tesela::matrix_market {

/// Whether the bytes begin as a Matrix Market file does.
bool recognise(std::span<const char> bytes);

MatrixFileInfo probe(std::span<const char> bytes, const std::string& name);

template <class T>
HostMatrix<T> read(std::span<const char> bytes, const std::string& name, std::uint64_t max_bytes);

/// Appends the whole file; all values must be finite.
template <class T>
void write(AtomicFile& file, const T* data, Shape shape, index_t ld);

}  // namespace tesela::matrix_market
