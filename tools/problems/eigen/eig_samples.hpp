#pragma once

#include <tesela/runtime/codelet.hpp>
#include <tesela/tiles/generator.hpp>
#include <tesela/tiles/host_matrix.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <vector>

namespace tesela::bench {

/// Columns `column` … of a symmetric matrix in double precision, from a generator of its lower triangle.
template <class T>
struct FillSymmetric {
  static constexpr auto name = "fill_symmetric";
  static constexpr std::uint32_t color = 0x5c6b73;
  struct Args {
    Generator<T> generator;
    index_t column = 0;
    std::uint64_t cost_key() const { return static_cast<std::uint64_t>(generator.pattern); }
  };
  static void cpu(const Args& args, Out<double> a);
  static void cuda(CudaContext& context, const Args& args, Out<double> a);
};

/// Column to[i] of S becomes column from[i] of X, in double precision, for i < count.
template <class T>
struct TakeColumns {
  static constexpr auto name = "sample_columns";
  static constexpr std::uint32_t color = 0x8c8c8c;
  static constexpr index_t most = 32;
  struct Args {
    index_t count = 0;
    index_t from[most] = {}, to[most] = {};  // arrays that device code may index
  };
  static void cpu(const Args& args, In<T> x, InOut<double> s);
  static void cuda(CudaContext& context, const Args& args, In<T> x, InOut<double> s);
};

/// Returns A Y for this matrix and a few columns Y, without memory for all of A: blocks of columns are generated, on
/// a GPU if there is one.
template <class T>
HostMatrix<double> symmetric_product(Runtime& runtime, const Generator<T>& lower, const HostMatrix<double>& y);

/// Returns at most TakeColumns::most columns of X, which the workers keep. X is in tiles of whole columns.
template <class T>
HostMatrix<double> columns_of(Runtime& runtime, const TileMatrix<T>& X, const std::vector<index_t>& columns);

/// Returns ||I - X^T X||_F as eig_error estimates it, by products on the workers that keep X.
template <class T>
double sampled_orthogonality(Runtime& runtime, const TileMatrix<T>& X, index_t samples, std::uint64_t seed);

}  // namespace tesela::bench
