#pragma once

#include <tesela/runtime/errors.hpp>

namespace tesela {

/// Too little memory for the request: use a smaller problem or a machine with more memory.
class OutOfMemory : public EnvironmentError {
 public:
  using EnvironmentError::EnvironmentError;
};

}  // namespace tesela
