#pragma once

// StarPU's files of performance models: not installed, the runtime's own.

#include <string>

namespace tesela::detail {

/// Whether the text of a model ends before all that its own counts announce. Formats other than StarPU's version 45 are
/// left alone, but for a last line without an end.
bool is_cut_off(const std::string& model);

/// A process that is killed while it writes a model, or a full disk, leaves a part of it, on which StarPU aborts ever
/// after. Without it the model is learned anew.
void remove_if_cut_off(const std::string& path);

}  // namespace tesela::detail
