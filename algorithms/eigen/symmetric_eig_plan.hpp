#pragma once

#include <tesela/algorithms/eigen/symmetric_eig.hpp>
#include <tesela/algorithms/support/memory_plan.hpp>

namespace tesela {

/// What symmetric_eig of a matrix of order n with elements of this size will hold in memory, with these workers and
/// options: in order of time, the matrix on the host included, which is the caller's. `a_columns` are those of a tile
/// of A; 0: what suits. Nothing of this is guessed from a run: where the matrix decides (deflation) it is the most.
/// Within limits (options.low, options.high) all vectors are counted. Throws ArgumentError for what symmetric_eig
/// refuses.
MemoryPlan plan_symmetric_eig(const WorkerCounts& workers, index_t n, std::size_t element,
                              const SymmetricEigOptions& options = {}, index_t a_columns = 0);

/// The same of a tridiagonal matrix.
MemoryPlan plan_tridiagonal_eig(const WorkerCounts& workers, index_t n, std::size_t element,
                                const SymmetricEigOptions& options = {});

/// The method that symmetric_eig takes for these options, unless A is a narrow band or is cut although one tile holds
/// it.
EigMethod suitable_eig_method(const WorkerCounts& workers, index_t n, const SymmetricEigOptions& options);

}  // namespace tesela
