#pragma once

#include <tesela/runtime/types.hpp>

namespace tesela {

/// Positions begin … end - 1 of an ascending spectrum, from 0.
struct IndexRange {
  index_t begin = 0, end = 0;
  index_t size() const { return end - begin; }  ///< number of positions
  friend bool operator==(const IndexRange&, const IndexRange&) = default;
};

}  // namespace tesela
