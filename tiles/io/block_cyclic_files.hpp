#pragma once

#include <tesela/runtime/runtime.hpp>
#include <tesela/tiles/block_cyclic.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <string>

// Files of matrices that are distributed over ranks, in the formats and with the errors of file_formats.hpp. All ranks
// must make the same call. If one fails, all throw its exception, with its rank number unless all failed.

namespace tesela {

/// Reads this rank's part of a matrix; otherwise as read_matrix().
///
/// Method   each rank reads only its part of a .npy file. Rank 0 parses Matrix Market and sends the entries to the
///          others; it also stores only its part.
/// Throws   FileError if the file's shape differs from the shape in `part`.
template <class T>
HostMatrix<T> read_part(const Runtime& runtime, const std::string& path, const BlockCyclic& part);

/// Writes the same bytes as write_matrix() in one process.
///
/// Method   all ranks write their parts into one temporary, which rank 0 renames at the end. Rank 0 writes Matrix
///          Market and special files, some columns at a time.
/// Throws   FileError on a file system that the ranks do not share; leaves nothing behind.
template <class T>
void write_parts(const Runtime& runtime, const std::string& path, const HostMatrix<T>& local, const BlockCyclic& part);

}  // namespace tesela
