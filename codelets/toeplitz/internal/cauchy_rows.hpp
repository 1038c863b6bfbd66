#pragma once

#include <tesela/codelets/toeplitz/cauchy.hpp>
#include <tesela/runtime/codelet.hpp>
#include <tesela/runtime/types.hpp>

// Rows of one block of a Cauchy-like matrix C during its elimination. Internal to codelets/toeplitz.

namespace tesela::kernels::cauchy {

/// Rows per chunk; `largest` has an entry for each chunk. All vectors hold whole chunks.
inline constexpr index_t chunk = 64;

/// A pivot row, and the beginnings of w(a + o) and w(a); a = 0 is the pivot.
template <class T>
struct Pivot {
  index_t row;
  T g, h, d, inverse;
  const T *sums, *differences;
};

/// One block of C. All columns are padded to whole chunks with zeros, which no pivot changes.
template <class T>
struct Block {
  index_t rows, chunks;
  T *g, *h, *d, *left;  // left: 1 for rows that have not been pivots, 0 for other rows and the padding
  T* largest;           // largest |d| among these rows of each chunk
  index_t* best;        // the row of that entry
};

/// Finds `largest` and `best` of every chunk. Rows that are not finite come last.
template <class T>
void find_largest(const Block<T>& b);

/// Subtracts, for each pivot in turn, l = c / d_p times the pivot's row from all rows, and finds `largest` and `best`.
/// The pivot's row stays, since w(0) = 0 makes its c zero. `kept`, if not null, receives l: one column of the block's
/// chunks per pivot.
template <class T>
void sweep_rows(const Block<T>& b, const Pivot<T>* pivots, int count, T* kept);

/// Destination of a block's factors: see CauchyFactor.
template <class T>
struct CauchyFactors {
  T* l;
  index_t ld;
  T *pivots, *order;
};

/// Runs CauchyFactor on a core; `report` is CauchyReport::rows numbers. Internal to codelets/.
template <class T>
void factor(const In<T>& c, double sigma, int part, const CauchyFactors<T>& kept, double* report);

/// Runs CauchyInvert on a core for one block and one shift; `report` is CauchyReport::rows numbers.
template <class T>
void invert_part(const In<T>& c, double sigma, int part, const Out<T>& inverse, double* report);

}  // namespace tesela::kernels::cauchy
