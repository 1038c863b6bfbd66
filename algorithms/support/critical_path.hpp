#pragma once

#include <tesela/algorithms/support/schedule.hpp>

namespace tesela {

/// The length of a schedule's longest chain of eliminations, each sharing a row with the one before: the stages it
/// needs when each elimination starts as early as the order of its rows allows. Never more than schedule.stages().
index_t critical_path(const Schedule& schedule);

/// A schedule whose stages overlap: a rotation of column j, from 1, takes n - j + 1 of them, one for each column, from
/// its stage on, and the next one of its rows begins behind it. The stages of pgs1 are made for that.
struct Overlap {
  index_t in_flight = 0;  ///< the most rotations under way at one stage
  index_t stages = 0;     ///< the last one at which something happens
  index_t work = 0;       ///< stages of all rotations
};
Overlap overlapped(const Schedule& schedule);

/// Tile QR by a schedule: tasks of each kernel, and time with a core for each of them, in units of nb^3 / 3 flops.
struct TilePath {
  index_t critical_path = 0, work = 0;
  index_t geqrt = 0, unmqr = 0;  ///< tasks: a tile becomes a triangle (4), and a tile right of it is updated (6)
  index_t tsqrt = 0, tsmqr = 0;  ///< a square below a triangle becomes zero (6), and two tiles are updated (12)
  index_t ttqrt = 0, ttmqr = 0;  ///< a triangle below a triangle becomes zero (2), and two tiles are updated (6)
};

/// The task graph of tile QR over m x n square tiles, run by as many cores as it can use. `triangles` makes every tile
/// a triangle first and joins them by TT kernels alone; otherwise a tile that eliminates none in its column is
/// eliminated as a square, by the TS kernels. Dependences are those of the data, with unmqr's vectors copied so that it
/// need not wait for what happens to the triangle beside them. work is 6 m n^2 - 2 n^3 for m >= n, whatever the order
/// (Bouwmeester, Jacquelin, Langou and Robert, "Tiled QR factorization algorithms", section 2).
/// Throws ArgumentError for a schedule that violation() objects to, or whose heads leave the diagonal: tiles then are
/// not square, and cost something else.
TilePath tile_path(const Schedule& schedule, bool triangles);

}  // namespace tesela
