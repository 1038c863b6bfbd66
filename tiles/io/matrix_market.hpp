#pragma once

#include <tesela/runtime/types.hpp>
#include <tesela/tiles/io/file_formats.hpp>

#include <cstdint>
#include <functional>
#include <span>
#include <string>

// The Matrix Market half of file_formats.hpp, which documents what is accepted. Errors are as stated there.

namespace tesela::matrix_market {

/// Whether the bytes begin as a Matrix Market file does.
bool recognise(std::span<const char> bytes);

MatrixFileInfo probe(std::span<const char> bytes, const std::string& name);

/// T is float, double, or std::complex of them, which also reads complex and hermitian files, and the others as well.
template <class T>
HostMatrix<T> read(std::span<const char> bytes, const std::string& name, std::uint64_t max_bytes,
                   const Counted& counts = {});

/// read(), without a matrix: sink(i, j, value) for each entry, mirrored ones too. Those that occur more than once are
/// the sink's to sum. T is float or double.
template <class T>
void for_each_entry(std::span<const char> bytes, const std::string& name,
                    const std::function<void(index_t, index_t, T)>& sink);

/// Appends the whole file, or its beginning and some columns; all values must be finite.
template <class T>
void write(AtomicFile& file, const T* data, Shape shape, index_t ld);
void write_header(AtomicFile& file, Shape whole);
template <class T>
void write_columns(AtomicFile& file, const T* data, Shape shape, index_t ld);

}  // namespace tesela::matrix_market
