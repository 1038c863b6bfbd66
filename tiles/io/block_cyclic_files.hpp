#pragma once

#include <tesela/runtime/runtime.hpp>
#include <tesela/tiles/block_cyclic.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <string>

// Files of matrices that lie over several ranks: what is in them, and what is refused, is as in file_formats.hpp. All
// ranks call these alike. What one of them meets all of them throw, with the rank's number where it is alone with it.

namespace tesela {

/// read_matrix(), of which this rank keeps its part. Of a .npy file each rank reads that alone; Matrix Market is parsed
/// by rank 0, which hands entries out in between, and holds no more than its part either. Throws FileError where the
/// file's shape is not the part's.
template <class T>
HostMatrix<T> read_part(const Runtime& runtime, const std::string& path, const BlockCyclic& part);

/// write_matrix(): the same bytes as one process writes. All ranks write their parts into one temporary, which rank 0
/// renames when all are done. Matrix Market, and what is not a regular file, rank 0 writes, some columns after the
/// other. A file system that ranks do not share is told (FileError), and nothing is left behind.
template <class T>
void write_parts(const Runtime& runtime, const std::string& path, const HostMatrix<T>& local, const BlockCyclic& part);

}  // namespace tesela
