#pragma once

#include <tesela/runtime/errors.hpp>

#include <string>
#include <string_view>
#include <type_traits>

namespace tesela {
namespace detail {

/// Returns a part of a message: text, a number, or "3 x 4" for a shape, a tile shape or a matrix.
template <class Part>
std::string text_of(const Part& part) {
  const auto shape = [](auto rows, auto cols) { return std::to_string(rows) + " x " + std::to_string(cols); };
  if constexpr (std::is_arithmetic_v<Part>)
    return std::to_string(part);
  else if constexpr (requires { part.mb, part.nb; })
    return shape(part.mb, part.nb);
  else if constexpr (requires { part.m() + part.n(); })
    return shape(part.m(), part.n());
  else if constexpr (requires { part.rows + part.cols; })
    return shape(part.rows, part.cols);
  else
    return part;
}

}  // namespace detail

/// Throws ArgumentError unless `condition` holds. The parts join to the message: the value and the rule.
///
///     require(X.m() == A.n(), "solve", "X", X, "; it must have ", A.n(), " rows");
template <class... Parts>
void require(bool condition, std::string_view routine, std::string_view argument, const Parts&... parts) {
  if (!condition) throw ArgumentError(routine, argument, (std::string() + ... + detail::text_of(parts)));
}

}  // namespace tesela
