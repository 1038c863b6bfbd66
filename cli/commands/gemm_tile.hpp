#pragma once

#include <tesela/runtime/runtime.hpp>

#include <string>

namespace tesela::cli {

/// How a product is cut: C into mb x nb, op(A) into mb x kb, op(B) into kb x nb.
struct GemmTile {
  index_t mb = 0, nb = 0, kb = 0;
};

/// "1024", "2048x1024" or "2048x1024x4096" (kb is nb unless given). Empty: what suits the runtime's workers and an
/// m x n x k product. Throws ArgumentError for anything else.
GemmTile parse_gemm_tile(const std::string& text, const Runtime& runtime, index_t m, index_t n, index_t k);

}  // namespace tesela::cli
