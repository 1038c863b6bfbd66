#pragma once

#include <tesela/runtime/require.hpp>
#include <tesela/tiles/generator.hpp>

namespace tesela::kernels {

/// Throws ArgumentError if the pattern needs the size of the whole matrix and the generator has none. Internal to
/// codelets/support.
template <class T>
void require_size(const Generator<T>& of) {
  const bool graded = of.pattern == Pattern::graded;
  require(of.columns > 0 || (of.pattern != Pattern::index && !graded), "fill", "generator.columns", of.columns,
          "; the patterns index and graded need the columns of the whole matrix");
  require(of.rows > 0 || !graded, "fill", "generator.rows", of.rows,
          "; the pattern graded needs the rows of the whole matrix");
}

}  // namespace tesela::kernels
