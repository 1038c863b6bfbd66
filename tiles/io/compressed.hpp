#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

// gzip files and the members of .npz files (zip archives), by zlib.

namespace tesela {

/// Return whether the bytes begin like a gzip file, or a zip archive.
bool is_gzip(std::span<const char> bytes);
bool is_zip(std::span<const char> bytes);

/// Receives the next decompressed bytes.
using Inflated = std::function<void(const char* data, std::size_t size)>;

/// Decompresses a gzip file, which may consist of several parts. Throws FileError if it is damaged.
void gunzip(std::span<const char> bytes, const std::string& name, const Inflated& sink);

/// A file in a zip archive.
struct ZipMember {
  std::string name;             ///< path in the archive
  bool deflated = false;        ///< whether it is compressed
  std::span<const char> bytes;  ///< in the archive
  std::uint64_t size = 0;       ///< decompressed
  std::uint32_t checksum = 0;   ///< CRC-32 of the uncompressed bytes
};

/// Returns the members in their order. Throws FileError if the archive is damaged, or a member is encrypted or
/// compressed by another method than deflate.
std::vector<ZipMember> zip_members(std::span<const char> bytes, const std::string& name);

/// Decompresses a member. Throws FileError if it is damaged.
void unzip(const ZipMember& member, const std::string& name, const Inflated& sink);

/// Throws FileError if the bytes of an uncompressed member are damaged.
void require_checksum(const ZipMember& member, const std::string& name);

}  // namespace tesela
