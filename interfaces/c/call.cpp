#include "interfaces/c/call.hpp"

#include <tesela/runtime/config.hpp>
#include <tesela/runtime/runtime.hpp>

#include <new>
#include <system_error>

namespace tesela::c {
namespace {

/// Returns -i for the i-th of "m,n,a,lda".
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
  } catch (const std::system_error& e) {  // a thread could not start
    message() = std::string(routine) + ": " + e.what();
    return TESELA_ENVIRONMENT;
  } catch (const std::exception& e) {
    message() = std::string(routine) + ": " + e.what();
    return TESELA_INTERNAL;
  }
}

}  // namespace

std::string printable(std::string_view text) {
  const auto byte = [&](std::size_t k) { return k < text.size() ? static_cast<unsigned char>(text[k]) : 0U; };
  std::string result;
  for (std::size_t k = 0; k < text.size();) {
    const unsigned first = byte(k), second = byte(k + 1);
    std::size_t length = 0;  // length of the character that begins here; 0 if invalid
    if (first >= 0x20 && first < 0x7f)
      length = 1;
    else if (first >= 0xc2 && first < 0xe0)
      length = 2;
    else if (first >= 0xe0 && first < 0xf0)  // no overlong form, no surrogate
      length = (first == 0xe0 && second < 0xa0) || (first == 0xed && second >= 0xa0) ? 0 : 3;
    else if (first >= 0xf0 && first < 0xf5)
      length = (first == 0xf0 && second < 0x90) || (first == 0xf4 && second >= 0x90) ? 0 : 4;
    for (std::size_t i = 1; i < length; ++i)
      if (byte(k + i) < 0x80 || byte(k + i) >= 0xc0) length = 0;
    if (length == 0) {
      constexpr std::string_view digits = "0123456789abcdef";
      result += "\\x";
      result += digits[first / 16];
      result += digits[first % 16];
      ++k;
    } else {
      result += text.substr(k, length);
      k += length;
    }
  }
  return result;
}

std::string& message() { return detail::of_thread<std::string, struct Message>(); }

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
    message() = printable(message());
    return info;
  } catch (...) {
    try {
      const Code code = translated(routine, parameters);
      message() = printable(message());
      return code;
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
