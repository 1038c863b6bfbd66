#pragma once

#include <tesela/algorithms/support/memory_plan.hpp>
#include <tesela/runtime/runtime.hpp>

namespace tesela::detail {

/// The stages of two-stage plans, in this order.
enum EigStage : std::uint8_t { to_band, chase, tridiagonal, back_transformation };

/// What the bytes of two stages follow from.
struct EigShape {
  WorkerCounts workers;
  index_t n = 0, half_width = 1;
  index_t a_columns = 1;  ///< of a tile of A
  index_t x_columns = 1;  ///< of a tile of X
  index_t block = 0;      ///< as SymmetricEigOptions has it
  index_t wanted = 0;     ///< vectors
  bool vectors = true;

  bool gpu() const { return workers.gpus > 0; }
  /// The last stage that needs what applies Q.
  index_t last(EigStage own) const { return vectors ? back_transformation : own; }
};

/// What each of the algorithms adds.
void plan_reduction(MemoryPlan& plan, const EigShape& shape);    // reduce_to_band
void plan_chase(MemoryPlan& plan, const EigShape& shape);        // band_to_tridiagonal
void plan_tridiagonal(MemoryPlan& plan, const EigShape& shape);  // tridiagonal_eig

}  // namespace tesela::detail
