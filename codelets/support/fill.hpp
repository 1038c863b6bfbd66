#pragma once

#include <tesela/runtime/codelet.hpp>
#include <tesela/runtime/require.hpp>
#include <tesela/tiles/generator.hpp>

namespace tesela::kernels {

/// Throws ArgumentError if the pattern needs the size of the whole matrix and the generator has none.
template <class T>
void require_size(const Generator<T>& of) {
  const bool graded = of.pattern == Pattern::graded;
  require(of.columns > 0 || (of.pattern != Pattern::index && !graded), "fill", "generator.columns", of.columns,
          "; the patterns index and graded need the columns of the whole matrix");
  require(of.rows > 0 || !graded, "fill", "generator.rows", of.rows,
          "; the pattern graded needs the rows of the whole matrix");
}

/// Writes a tile of a generated matrix, with the first element at (row, column) of the matrix (LAPACK laset, larnv).
template <class T>
struct Fill {
  static constexpr auto name = "fill";
  static constexpr std::uint32_t color = 0x5c6b73;
  struct Args {
    Generator<T> generator;
    index_t row = 0, column = 0;
    std::uint64_t cost_key() const { return static_cast<std::uint64_t>(generator.pattern); }
  };
  static void cpu(const Args& args, Out<T> a);
  static void cuda(CudaContext& context, const Args& args, Out<T> a);
};

/// Scales A = alpha A (LAPACK lascl without its safeguards).
template <class T>
struct Scal {
  static constexpr auto name = "scal";
  static constexpr std::uint32_t color = 0x937860;
  struct Args {
    T alpha = 1;
  };
  static double flops(const Args&, Shape a) { return static_cast<double>(a.rows) * static_cast<double>(a.cols); }
  static void cpu(const Args& args, InOut<T> a);
  static void cuda(CudaContext& context, const Args& args, InOut<T> a);
};

}  // namespace tesela::kernels
