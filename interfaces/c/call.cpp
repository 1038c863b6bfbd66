#include "interfaces/c/call.hpp"

#include <tesela/runtime/config.hpp>
#include <tesela/runtime/runtime.hpp>

#include <new>
#include <string_view>
#include <system_error>

namespace tesela::c {
namespace {

/// -i for the i-th of "m,n,a,lda".
Code position(std::string_view parameters, std::string_view wanted) {
  for (Code i = -1; !parameters.empty(); --i) {
    const auto comma = parameters.find(',');
    if (parameters.substr(0, comma) == wanted) return i;
    parameters.remove_prefix(comma == std::string_view::npos ? parameters.size() : comma + 1);
  }
  return TESELA_ARGUMENT;
}

Code translated(const char* routine, const char* parameters) {
  try {
    throw;
  } catch (const WrongArgument& e) {
    const std::string said = e.what();  // "tesela: a: null"
    message() = routine + said.substr(said.find(':'));
    return position(parameters, e.parameter());
  } catch (const ArgumentError& e) {
    message() = std::string(routine) + ": " + e.what();
    return TESELA_ARGUMENT;
  } catch (const FileError& e) {
    message() = std::string(routine) + ": " + e.what();
    return TESELA_FILE;
  } catch (const EnvironmentError& e) {
    message() = std::string(routine) + ": " + e.what();
    return TESELA_ENVIRONMENT;
  } catch (const Cancelled&) {
    message() = std::string(routine) + ": cancelled";
    return TESELA_CANCELLED;
  } catch (const LifetimeError& e) {
    message() = std::string(routine) + ": " + e.what();
    return TESELA_LIFETIME;
  } catch (const std::bad_alloc&) {
    message() = std::string(routine) + ": not enough host memory";
    return TESELA_ENVIRONMENT;
  } catch (const std::system_error& e) {  // no thread
    message() = std::string(routine) + ": " + e.what();
    return TESELA_ENVIRONMENT;
  } catch (const std::exception& e) {
    message() = std::string(routine) + ": " + e.what();
    return TESELA_INTERNAL;
  }
}

}  // namespace

std::string& message() { return detail::words_of_thread<struct Message>(); }

Code failed(Code info, const std::string& why) {
  message() = why;
  return info;
}

Code guarded(const char* routine, const char* parameters, const std::function<Code()>& function) noexcept {
  message().clear();
  try {
    if (forked())
      throw LifetimeError(
          "the workers belong to the process that this one was forked from: start them after the fork, or exec");
    const Code info = function();
    if (info > 0 && !message().empty()) message().insert(0, std::string(routine) + ": ");
    return info;
  } catch (...) {
    try {
      return translated(routine, parameters);
    } catch (...) {  // no memory for the message
      message().clear();
      return TESELA_INTERNAL;
    }
  }
}

}  // namespace tesela::c

extern "C" {
#define TESELA_EXPORT __attribute__((visibility("default")))
TESELA_EXPORT const char* tesela_error(void) { return tesela::c::message().c_str(); }
TESELA_EXPORT const char* tesela_version(void) { return tesela::config::version; }
TESELA_EXPORT void tesela_cancel(void) { tesela::Runtime::cancel(); }
}
