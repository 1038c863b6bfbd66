#pragma once

#include <string>

// Standard streams and pipes as files.

namespace tesela {

/// From here on a pipe is read once in this process: every further MappedFile of the same path has its bytes, which
/// stay in memory. For a program that looks at an input before it reads it.
void keep_streams() noexcept;

/// Whether an AtomicFile of `path` writes to this process's standard output: /dev/stdout, or a link to it.
bool is_standard_output(const std::string& path);

/// From here on an AtomicFile of standard output writes to this descriptor, a duplicate of it: for a program that
/// prints elsewhere meanwhile.
void write_standard_output_to(int descriptor) noexcept;

}  // namespace tesela
