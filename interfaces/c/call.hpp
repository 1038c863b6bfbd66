#pragma once

#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/scalar.hpp>
#include <tesela/runtime/types.hpp>

#include <concepts>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

extern "C" {
#include "interfaces/c/types.h"  // NOLINT
}

namespace tesela::c {

/// Result of every C function. interfaces/c/make_header.cmake exports each function with this return type: `Code f(…)`
/// as tesela_f, and the template `Code f(…)` of T as tesela_sf and tesela_df, of a Number T as tesela_cf and tesela_zf,
/// too.
using Code = std::int64_t;

/// A real or complex type.
template <class T>
concept Number = std::floating_point<real_t<T>>;

/// A wrong argument of a C function, identified by its parameter's name.
class WrongArgument : public ArgumentError {
 public:
  WrongArgument(std::string parameter, const std::string& problem)
      : ArgumentError("tesela", parameter, problem), parameter_(std::move(parameter)) {}
  const std::string& parameter() const { return parameter_; }

 private:
  std::string parameter_;
};

/// Calls `function` and turns its exceptions into a code and a message; throws nothing. In a forked process it fails
/// without the call. `parameters` are the routine's parameter names, such as "m,n,a,lda"; a WrongArgument names one of
/// them.
Code guarded(const char* routine, const char* parameters, const std::function<Code()>& function) noexcept;

/// Returns whether this process was forked from one with workers, which owns the locks and the workers.
bool forked() noexcept;

/// Returns a positive info after setting the text of tesela_error().
Code failed(Code info, const std::string& why);

/// Returns text that every C program, terminal and UTF-8 reader accepts: invalid bytes become \x00 …. A caller's
/// letters and names may contain any bytes.
std::string printable(std::string_view text);

/// Text of tesela_error() in this thread.
std::string& message();

}  // namespace tesela::c
