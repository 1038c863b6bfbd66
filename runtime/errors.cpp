#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/internal/stop_requests.hpp>

namespace tesela {
namespace {

std::string joined(std::string_view place, std::string_view problem) {
  return std::string(place).append(": ").append(problem);
}

}  // namespace

Error::Error(const std::string& what) : Error(what, ErrorKind::wrong_use) {}

Error::Error(const std::string& what, ErrorKind kind) : std::runtime_error(what), kind_(kind) {
  detail::of_thread<detail::LastError>() = {what, kind};
}

ArgumentError::ArgumentError(std::string_view routine, std::string_view argument, std::string_view problem)
    : Error(joined(joined(routine, argument), problem)) {}

FileError::FileError(std::string_view path, std::string_view problem) : Error(joined(path, problem)) {}

EnvironmentError::EnvironmentError(const std::string& what) : Error(what, ErrorKind::environment) {}

Cancelled::Cancelled() : Error("cancelled", ErrorKind::cancelled) {}

}  // namespace tesela
