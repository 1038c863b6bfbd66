#pragma once

#include "runtime/codelet.hpp"

#include <cmath>
#include <limits>

#ifdef __CUDACC__
#define TESELA_BOTH __host__ __device__
#else
#define TESELA_BOTH
#endif

namespace tesela {

/// What generated matrices hold.
enum class Pattern : std::uint8_t {
  constant,  ///< a(i, j) = value
  index,     ///< a(i, j) = i n + j, the row-major number of the element (n: columns of the whole matrix)
  uniform,   ///< independent uniform numbers of [-1, 1), the same for every tiling and on every device
};

/// One element of a generated matrix; row and column count from 0 in the whole matrix. The uniform numbers are a
/// counter-based generator: Steele, Lea and Flood's SplitMix64 finalizer over (seed, row, column).
template <class T>
struct Generator {
  Pattern pattern = Pattern::constant;
  T value = 0;
  index_t columns = 0;
  std::uint64_t seed = 0;

  TESELA_BOTH static std::uint64_t mix(std::uint64_t z) {
    z += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
  }
  TESELA_BOTH T operator()(index_t row, index_t column) const {
    switch (pattern) {
      case Pattern::constant:
        return value;
      case Pattern::index:
        return static_cast<T>(row * columns + column);
      case Pattern::uniform: {
        const std::uint64_t bits =
            mix(mix(mix(seed) ^ static_cast<std::uint64_t>(row)) ^ static_cast<std::uint64_t>(column));
        // As many leading bits as T's significand holds, so that the number is exact and below 1.
        constexpr int kept = std::numeric_limits<T>::digits;
        return static_cast<T>(bits >> (64 - kept)) * (T(2) / static_cast<T>(std::uint64_t{1} << kept)) - T(1);
      }
    }
    return value;
  }
};

/// Writes a generated matrix's tile whose first element is (row, column) of the whole (LAPACK laset, larnv).
template <class T>
struct Fill {
  static constexpr auto name = "fill";
  static constexpr std::uint32_t color = 0x8c8c8c;
  struct Args {
    Generator<T> generator;
    index_t row = 0, column = 0;
    std::uint64_t cost_key() const { return static_cast<std::uint64_t>(generator.pattern); }
  };
  static void cpu(const Args& args, Out<T> a) noexcept;
  static void cuda(CudaContext& context, const Args& args, Out<T> a) noexcept;
};

/// A = alpha A (LAPACK lascl without its safeguards).
template <class T>
struct Scal {
  static constexpr auto name = "scal";
  static constexpr std::uint32_t color = 0x937860;
  struct Args {
    T alpha = 1;
  };
  static double flops(const Args&, Shape a) { return static_cast<double>(a.rows) * static_cast<double>(a.cols); }
  static void cpu(const Args& args, InOut<T> a) noexcept;
  static void cuda(CudaContext& context, const Args& args, InOut<T> a) noexcept;
};

}  // namespace tesela
