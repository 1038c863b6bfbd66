#pragma once

#include <string>

namespace tesela {

/// Registers `path` as a temporary of this process, for remove_unfinished_files(). Returns a slot for
/// forget_unfinished, or -1 if all slots are in use or the path is too long.
int remember_unfinished(const std::string& path) noexcept;

/// Frees a slot; does nothing for -1. Call it after the temporary was renamed or unlinked.
void forget_unfinished(int slot) noexcept;

}  // namespace tesela
