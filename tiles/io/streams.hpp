#pragma once

#include <string>

// Standard streams and pipes as files.

namespace tesela {

/// Makes this process read each pipe only once: later MappedFiles of the same path get the same bytes, which stay in
/// memory. For a program that probes an input before it reads it.
void keep_streams() noexcept;

/// Returns whether an AtomicFile of `path` writes to this process's standard output: /dev/stdout, or a link to it.
bool is_standard_output(const std::string& path);

/// Makes an AtomicFile of standard output write to this descriptor, a duplicate of it: for a program that redirects its
/// standard output meanwhile.
void write_standard_output_to(int descriptor) noexcept;

}  // namespace tesela
