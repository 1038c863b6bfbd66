#pragma once

// StarPU's files of performance models: not installed, the runtime's own.

#include <string>

namespace tesela::detail {

/// Whether StarPU would abort on this text of a model, as each later run: a process that is killed while it writes one,
/// or a full disk, leaves a part of it. `version` is the format's, 45 for StarPU 1.4; of others we know that lines end.
bool is_unreadable(const std::string& model, const std::string& version);

/// The model is learned anew then. The file's folder names the version.
void remove_if_unreadable(const std::string& path);

}  // namespace tesela::detail
