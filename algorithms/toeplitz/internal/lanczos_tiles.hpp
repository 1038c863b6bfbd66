#pragma once

#include <tesela/algorithms/toeplitz/internal/inverse_queue.hpp>
#include <tesela/codelets/toeplitz/lanczos/lanczos_tiles.hpp>

#include <optional>
#include <vector>

namespace tesela::detail {

/// Returns whether the steps of `intervals` runs are tasks on tiles, which is decided here if the option is automatic.
bool steps_on_tiles(const Runtime& runtime, index_t n, const SpectrumOptions& options, std::size_t intervals);

/// Returns the number of segments of each part of a basis: enough for all workers, if `window` runs share them.
index_t lanczos_segments(const Runtime& runtime, index_t n, const SpectrumOptions& options);

/// A Lanczos run whose steps are tasks on tiles of its basis (codelets/toeplitz/lanczos/lanczos_tiles.hpp).
template <class T>
class LanczosTiles {
 public:
  LanczosTiles(Graph& g, const SineToeplitz<T>& A, const SpectrumOptions& options, index_t segments);

  /// Begins a run.
  void begin(const typename InverseQueue<T>::Start& start);
  /// Inserts `steps` steps after `done` earlier ones. `coefficients`: 4 x steps, as LanczosSteps writes them.
  void steps(index_t done, index_t steps, const Tile<double>& coefficients);
  /// Returns the pieces of the basis of a part.
  std::vector<Tile<T>> basis(int part) const;

 private:
  /// The symmetric or the skew part; row i of tiles, or column i of the sums, belongs to segment i.
  struct Part {
    TileMatrix<T> basis, w, recent, projected, subtracted;
    OneTile<T> y, norm;
  };
  void step(std::size_t part, index_t k, index_t column, const Tile<double>& coefficients);
  Priority place(index_t segment) const;

  Graph& graph_;
  const SineToeplitz<T>& matrix_;
  bool refine_;
  std::vector<Part> parts_;
  std::optional<typename InverseQueue<T>::Start> start_;
};

}  // namespace tesela::detail
