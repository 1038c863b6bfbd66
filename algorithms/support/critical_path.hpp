#pragma once

#include <tesela/algorithms/support/schedule.hpp>

namespace tesela {

/// Returns the length of the longest chain of eliminations that share a row with the previous one: the number of stages
/// if each elimination starts as early as the order of its rows allows. It is at most schedule.stages().
index_t critical_path(const Schedule& schedule);

/// A schedule whose stages overlap: a rotation of column j, from 1, occupies n - j + 1 stages from its own on, one for
/// each column; the next rotation of its rows follows behind. The stages of pgs1 are designed for this.
struct Overlap {
  index_t in_flight = 0;  ///< largest number of concurrent rotations
  index_t stages = 0;     ///< last stage in use
  index_t work = 0;       ///< sum of the stages of all rotations
};
Overlap overlapped(const Schedule& schedule);

/// Tile QR by a schedule: number of tasks per kernel, and times with unlimited cores, in units of nb^3 / 3 flops.
struct TilePath {
  index_t critical_path = 0, work = 0;  ///< times of the longest path and of all tasks
  /// Tasks that make a tile triangular (4 units), and that update a tile to its right (6).
  index_t geqrt = 0, unmqr = 0;
  index_t tsqrt = 0, tsmqr = 0;  ///< tasks that eliminate a square below a triangle (6), and that update two tiles (12)
  /// Tasks that eliminate a triangle below a triangle (2), and that update two tiles (6).
  index_t ttqrt = 0, ttmqr = 0;
};

/// Computes the critical path and the work of tile QR over m x n square tiles.
///
/// triangles  makes every tile triangular first and joins tiles only by TT kernels. Otherwise a tile that eliminates no
///            other tile of its column is eliminated as a square, by TS kernels.
/// Returns    path, work and task counts. work is 6 m n^2 - 2 n^3 for m >= n, for every order.
/// Throws     ArgumentError for a schedule with a violation(), or whose heads leave the diagonal (tiles are not square
///            then, and costs differ).
/// Method     The dependences are those of the data; unmqr's vectors are copied, so that it need not wait for tasks on
///            the triangle next to them (Bouwmeester, Jacquelin, Langou and Robert, "Tiled QR factorization
///            algorithms", section 2).
TilePath tile_path(const Schedule& schedule, bool triangles);

}  // namespace tesela
