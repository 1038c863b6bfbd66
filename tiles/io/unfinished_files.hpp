#pragma once

#include <string>

namespace tesela {

/// Notes that `path` is a temporary of this process, for remove_unfinished_files(). Returns a slot for
/// forget_unfinished, or -1 when all are taken or the path is too long.
int remember_unfinished(const std::string& path) noexcept;

/// Frees a slot; -1 is none. Call it once the temporary has been renamed or unlinked.
void forget_unfinished(int slot) noexcept;

}  // namespace tesela
