#pragma once

#include <tesela/algorithms/support/named.hpp>
#include <tesela/algorithms/tridiagonal/tridiagonal.hpp>
#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/tridiagonal.hpp>

#include <cstdint>
#include <span>

namespace tesela {

/// All methods for A X = B in this library. All except `automatic` and the variants of parallel_reduction solve one
/// matrix, n x 1, in columns.
enum class TridiagonalMethod : std::uint8_t {
  automatic,         ///< tridiagonal_solve: any number of systems, also periodic, in columns or in rows
  lapack,            ///< gtsv, as a reference
  thomas,            ///< thomas, as a baseline
  cyclic_reduction,  ///< cyclic_reduction, variant plain
  cr_hybrid,         ///< cyclic_reduction, variant hybrid
  cr_shared,         ///< cyclic_reduction, variant shared
  cr_coalesced,      ///< cyclic_reduction, variant coalesced: twice the storage
  pcr,               ///< parallel cyclic reduction (parallel_reduction): many small systems
  rd,                ///< recursive doubling, corrected by its residual
  cr_pcr,            ///< cyclic reduction, then pcr
  cr_rd,             ///< cyclic reduction, then rd
};

/// Returns the methods with their names, `auto` first.
std::span<const Named<TridiagonalMethod>> tridiagonal_methods();

/// Options of tridiagonal_solve_by.
struct TridiagonalMethodOptions {
  TridiagonalMethod method = TridiagonalMethod::automatic;
  TridiagonalOptions systems = {};  ///< only for automatic
  index_t cut = 256;                ///< for cr_hybrid, cr_pcr and cr_rd: unknowns at which cyclic reduction stops
};

/// Inserts the solution B = A^-1 B by the chosen method. Inserts nothing for a matrix without equations or right-hand
/// sides. Throws ArgumentError, with nothing inserted, for options.systems that only automatic supports, and as the
/// method does.
template <class T>
void tridiagonal_solve_by(Graph& g, const Tridiagonal<T>& A, const TileMatrix<T>& B,
                          const TridiagonalMethodOptions& options);

/// Tiles of tridiagonal_solve_by: equations and systems per tile, and how often the equations are reduced.
struct TridiagonalPlan {
  index_t along = 0, across = 0;  ///< equations and systems per tile
  index_t levels = 0;             ///< number of reductions
};

/// Returns `wanted`, or if it is 0 x 0 the tiles for `systems` systems of n equations, with the number of reductions.
/// The tiles have enough elements for an efficient task, 2^24 with a GPU and 2^16 on cores, whose caches hold them
/// (2^18 for long systems); whole systems if the method works row after row; and at least two tasks per worker across
/// the systems.
TridiagonalPlan plan_tridiagonal(const Runtime& runtime, const TridiagonalMethodOptions& options, index_t n,
                                 index_t systems, TridiagonalPlan wanted = {});

/// Inserts the solution B = A^-1 B by elimination without pivoting (Thomas), row after row on one core: the baseline of
/// parallel methods, stable for diagonally dominant and symmetric positive definite A.
///
/// A       its diagonals are n x 1; only read. dl(0) and du(n - 1) are not read.
/// B       n x r; overwritten by X. A and B may have any tiles; several tiles along the columns are gathered first.
/// Status  Graph::wait() returns i + 1 if equation i has a zero pivot, or a number there is not finite. B is undefined
///         then.
/// Throws  ArgumentError, with nothing inserted, if shapes do not conform.
template <class T>
void thomas(Graph& g, const Tridiagonal<T>& A, const TileMatrix<T>& B);

/// Inserts the solution by LAPACK's gtsv, with partial pivoting. Throws ArgumentError also if n exceeds LAPACK's
/// integers.
template <class T>
void gtsv(Graph& g, const Tridiagonal<T>& A, const TileMatrix<T>& B);

}  // namespace tesela
