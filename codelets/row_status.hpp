#pragma once

#include "runtime/types.hpp"

#include <algorithm>
#include <limits>

namespace tesela {

/// Row number `row`, counted from 1, as a status tile holds it: what an int cannot count becomes the largest it can.
inline int row_status(index_t row) { return static_cast<int>(std::min<index_t>(row, std::numeric_limits<int>::max())); }

}  // namespace tesela
