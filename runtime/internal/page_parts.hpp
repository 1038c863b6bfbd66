#pragma once

// The fixed parts of a trace page; CMake compiles them in (runtime/internal/page/).

namespace tesela::detail {

extern const char* const page_style;
extern const char* const page_script;
extern const char* const page_d3;  ///< empty if D3 was not found

}  // namespace tesela::detail
