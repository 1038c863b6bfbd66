#pragma once

#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/types.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

extern "C" {
#include "interfaces/c/types.h"  // NOLINT
}

namespace tesela::c {

/// What every C function returns. A function with this return type is one: `Code f(…)` is tesela_f, and the template
/// `Code f(…)` of T is tesela_sf and tesela_df (interfaces/c/make_header.cmake).
using Code = std::int64_t;

/// A wrong argument of a C function, by the name of its parameter.
class WrongArgument : public ArgumentError {
 public:
  WrongArgument(std::string parameter, const std::string& problem)
      : ArgumentError("tesela", parameter, problem), parameter_(std::move(parameter)) {}
  const std::string& parameter() const { return parameter_; }

 private:
  std::string parameter_;
};

/// Calls `function`, turns what it throws into a code and a message, and lets nothing through. In a forked() process it
/// does not call it. `parameters` are the
/// names of the routine's, "m,n,a,lda", of which a WrongArgument is one.
Code guarded(const char* routine, const char* parameters, const std::function<Code()>& function) noexcept;

/// Whether this process was forked from one whose workers ran: the locks and the workers are its parent's.
bool forked() noexcept;

/// A positive info, with its words for tesela_error().
Code failed(Code info, const std::string& why);

/// Text that C, any terminal and any reader of UTF-8 takes as a whole: what is no character of it becomes \x00 …. A
/// caller's letters and names may hold anything.
std::string printable(std::string_view text);

/// What tesela_error() says to this thread.
std::string& message();

}  // namespace tesela::c
