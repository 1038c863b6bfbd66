#pragma once

#include <tesela/runtime/errors.hpp>

#include <string>

namespace tesela::detail {

/// The last Error constructed on this thread. ~Runtime ends the other ranks by it during unwinding, when C++ gives a
/// destructor no access to the exception.
struct LastError {
  std::string what;
  ErrorKind kind = ErrorKind::environment;
};

}  // namespace tesela::detail
