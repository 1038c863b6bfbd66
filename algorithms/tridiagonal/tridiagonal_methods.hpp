#pragma once

#include <tesela/algorithms/support/named.hpp>
#include <tesela/algorithms/tridiagonal/tridiagonal.hpp>

#include <cstdint>
#include <span>

namespace tesela {

/// Every way to solve A X = B that the library has. All but `automatic` and those of parallel_reduction solve one plain
/// matrix, n x 1, in columns.
enum class TridiagonalMethod : std::uint8_t {
  automatic,         ///< tridiagonal_solve: any number of systems, periodic ones, in columns or in rows
  lapack,            ///< gtsv
  thomas,            ///< thomas
  cyclic_reduction,  ///< cyclic_reduction, as are those below
  cr_hybrid,
  cr_shared,
  cr_coalesced,
  pcr,  ///< parallel_reduction, as are those below
  rd,
  cr_pcr,
  cr_rd,
};

/// All of them, `auto` first.
std::span<const Named<TridiagonalMethod>> tridiagonal_methods();

struct TridiagonalMethodOptions {
  TridiagonalMethod method = TridiagonalMethod::automatic;
  TridiagonalOptions systems = {};  ///< of automatic alone
  index_t cut = 256;                ///< of cr_hybrid, cr_pcr, cr_rd: unknowns that cyclic reduction leaves
};

/// B <- X where A X = B, by the method of this name. A matrix without equations or right-hand sides is no task. Throws
/// ArgumentError, with nothing inserted, for options.systems that are automatic's alone, and as the method does.
template <class T>
void tridiagonal_solve_by(Graph& g, const Tridiagonal<T>& A, const TileMatrix<T>& B,
                          const TridiagonalMethodOptions& options);

/// How many equations, of how many systems, a tile holds.
struct TridiagonalTile {
  index_t along = 1, across = 1;
};

/// The tiles that suit the runtime's workers for `systems` systems of n equations: as many elements as make a task
/// worth its overhead, 2^24 with a GPU and 2^16 on cores, whose caches hold them, of systems long enough 2^18; whole
/// systems where the method takes one row after the other; and at least two tasks a worker across the systems.
TridiagonalTile suitable_tridiagonal_tile(const Runtime& runtime, TridiagonalMethod method, index_t n, index_t systems);

/// How often the equations of n unknowns, in tiles of so many, are reduced to fewer.
index_t tridiagonal_levels(const TridiagonalMethodOptions& options, index_t n, index_t along);

}  // namespace tesela
