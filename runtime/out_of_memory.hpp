#pragma once

#include <tesela/runtime/errors.hpp>

namespace tesela {

/// There is no memory for what was asked: a smaller problem, or a machine with more, would do.
class OutOfMemory : public EnvironmentError {
 public:
  using EnvironmentError::EnvironmentError;
};

}  // namespace tesela
