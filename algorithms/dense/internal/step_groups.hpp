#pragma once

#include <tesela/algorithms/support/memory_plan.hpp>
#include <tesela/codelets/dense/int8_update.hpp>
#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <algorithm>
#include <vector>

namespace tesela {

/// Steps of a factorization in groups. Each group updates the rest of the matrix at once, by residues; the steps after
/// the last group update it one by one.
struct StepGroups {
  index_t steps = 0;   ///< of the factorization
  index_t length = 0;  ///< steps of a group; 0 if there is no group
  index_t last = 0;    ///< the step after the last group

  /// Returns the end of the steps whose tiles step k updates by itself.
  index_t end(index_t k) const { return k < last ? (k / length + 1) * length : steps; }
  /// Returns whether a group ends with step k.
  bool ends(index_t k) const { return k < last && k + 1 == end(k); }
  bool starts(index_t k) const { return k > 0 && ends(k - 1); }
};

/// Returns groups for an n x n matrix in tiles of nb rows or columns, with elements of `element` bytes: on one GPU from
/// n = `least` on, as long as residues are faster, if the matrix and `operands` as wide as a group, modulo `moduli`
/// numbers, fit its memory.
StepGroups group_steps(const WorkerCounts& workers, index_t n, index_t nb, index_t least, std::size_t element,
                       int operands, int moduli);

/// Returns the bytes of a GPU for the residues of `operands` operands with `width` columns, and for their products.
double group_bytes(index_t n, index_t width, int operands, int moduli);

/// Adds these bytes to the plan of a factorization, if it has groups.
void plan_groups(MemoryPlan& plan, const StepGroups& groups, index_t n, index_t nb, std::size_t element, int operands,
                 int moduli);

/// Residues of an operand in a graph, modulo `moduli` numbers.
template <class T>
struct ResidueTiles {
  int moduli;
  kernels::ResidueShapes<T> shapes;
  TileMatrix<std::uint8_t> bytes;
  TileMatrix<int> exponents;

  ResidueTiles(Runtime& runtime, index_t k, index_t lines, int count)
      : moduli(count),
        shapes(k, lines, count),
        bytes(runtime, shapes.bytes.rows, shapes.bytes.cols, {shapes.bytes.rows, shapes.bytes.cols}, "residues"),
        exponents(runtime, shapes.exponents.rows, 1, {shapes.exponents.rows, 1}, "exponents") {}

  /// Inserts the conversion of tiles.
  void convert(Graph& g, const Priority& where, typename kernels::ToResidues<T>::Args args,
               const std::vector<Tile<T>>& tiles) const {
    args.moduli = moduli;
    g.insert<kernels::ToResidues<T>>(where, args, bytes(0, 0), exponents(0, 0),
                                     g.scratch<double>(shapes.squares.rows, 1), tiles);
  }
};

/// Inserts C -= A B for tiles of C.
template <class T>
void subtract_products(Graph& g, const Priority& where, typename kernels::ResidueUpdate<T>::Args args,
                       const ResidueTiles<T>& a, const ResidueTiles<T>& b, const std::vector<Tile<T>>& tiles) {
  args.moduli = a.moduli;
  g.insert<kernels::ResidueUpdate<T>>(where, args, a.bytes(0, 0), a.exponents(0, 0), b.bytes(0, 0), b.exponents(0, 0),
                                      g.scratch<double>(kernels::residue_work(a.moduli), 1), tiles);
}

/// Calls f(i, tiles) for tiles i, i + 1, … of first … end - 1, as many as a task accepts.
template <class T, class TileAt, class F>
void for_each_list(index_t first, index_t end, const TileAt& tile, const F& f) {
  for (constexpr index_t most = kernels::ResidueUpdate<T>::most_tiles; first < end; first += most) {
    std::vector<Tile<T>> tiles;
    for (index_t i = first; i < std::min(first + most, end); ++i) tiles.push_back(tile(i));
    f(first, tiles);
  }
}

}  // namespace tesela
