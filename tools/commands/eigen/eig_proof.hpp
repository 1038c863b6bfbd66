#pragma once

#include "tools/problems/eigen/eig_problem.hpp"
#include <tesela/algorithms/eigen/symmetric_eig.hpp>
#include <tesela/algorithms/eigen/symmetric_inertia.hpp>

#include <cstdint>
#include <optional>

namespace tesela::cli {

/// A proof of the number of eigenvalues by the inertia of A.
struct EigProof {
  Certificate certificate;
  std::optional<index_t> expected;  ///< in the range that was asked for
  index_t doubtful = 0;             ///< of those, by how many it may be wrong
  bool counted = true;              ///< inertias told something of both ends
};

/// Compares at `shifts` random places, and at the ends of the range that was selected. Nothing where there is neither,
/// or no whole A.
template <class T>
EigProof prove(Runtime& runtime, const EigInput& input, const EigProblem<T>& problem, const EigSelection& selection,
               index_t shifts, std::uint64_t seed, const SymmetricEig<T>& eig);

}  // namespace tesela::cli
