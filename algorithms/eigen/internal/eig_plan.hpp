#pragma once

#include <tesela/algorithms/support/memory_plan.hpp>
#include <tesela/runtime/runtime.hpp>

namespace tesela::detail {

/// The stages of two-stage plans, in this order.
enum EigStage : std::uint8_t { to_band, chase, tridiagonal, back_transformation };

/// Sizes that determine the memory of the two stages.
struct EigShape {
  WorkerCounts workers;
  index_t n = 0, half_width = 1;
  index_t a_columns = 1;  ///< columns per tile of A
  index_t x_columns = 1;  ///< columns per tile of X
  index_t block = 0;      ///< as SymmetricEigOptions::block
  index_t wanted = 0;     ///< number of vectors
  bool vectors = true;

  bool gpu() const { return workers.gpus > 0; }
  /// Returns the last stage that needs the data of Q from stage `own`.
  index_t last(EigStage own) const { return vectors ? back_transformation : own; }
};

/// Add the memory of each algorithm.
void plan_reduction(MemoryPlan& plan, const EigShape& shape);    // reduce_to_band
void plan_chase(MemoryPlan& plan, const EigShape& shape);        // band_to_tridiagonal
void plan_tridiagonal(MemoryPlan& plan, const EigShape& shape);  // tridiagonal_eig

}  // namespace tesela::detail
