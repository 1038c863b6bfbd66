#pragma once

// StarPU's files of performance models: not installed, the runtime's own.

#include <string>

namespace tesela::detail {

/// Returns whether StarPU would abort on this model file's text, in every later run. A process killed while it writes a
/// model, or a full disk, leaves a truncated file. `version`: the format's version, 45 for StarPU 1.4; for other
/// versions only the end of the last line is checked.
bool is_unreadable(const std::string& model, const std::string& version);

/// Removes the file in that case, so that StarPU learns the model again. The file's folder names the version.
void remove_if_unreadable(const std::string& path);

}  // namespace tesela::detail
