#include "tools/commands/eigen/eig_parts.hpp"
#include <tesela/algorithms/eigen/generalized_eig.hpp>
#include <tesela/algorithms/eigen/symmetric_pencil.hpp>
#include <tesela/algorithms/eigen/tridiagonal_eig.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace tesela::cli {
namespace {

/// Maps A in double precision, also for single precision values: a shift must keep away from their errors.
template <class T, class Wide = with_parts<T, double>>
TileMatrix<Wide> tiles_in_double(Runtime& runtime, const HostMatrix<T>& a, HostMatrix<Wide>& wide) {
  const index_t tile = inertia_tile(runtime);
  const auto map = [&](const HostMatrix<Wide>& m) {
    return TileMatrix<Wide>::map(runtime, m.data(), m.rows(), m.cols(), m.ld(), {tile, tile});
  };
  if constexpr (std::is_same_v<T, Wide>) {
    return map(a);
  } else {
    wide = HostMatrix<Wide>(a.rows(), a.cols());
    std::copy_n(a.data(), a.size(), wide.data());
    return map(wide);
  }
}

/// Returns a proof that the values are right to `accuracy`, by inertia(sigma) at the ends of the range and by certify()
/// at random shifts.
template <class T>
EigProof prove_by(const EigSelection& selection, index_t shifts, const SymmetricEig<T>& eig, double accuracy,
                  const std::function<SymmetricInertia(double)>& inertia, const std::function<Certificate()>& certify) {
  EigProof proof;
  if (shifts > 0) proof.certificate = certify();
  if (selection.range.empty()) return proof;
  const auto [low, high] = selection.interval();
  const auto below = [&](double end) {
    const InertiaCount count = count_below(eig.spectrum, end, accuracy, inertia);
    proof.doubtful += count.most - count.least;
    proof.counted = proof.counted && count.known;
    const index_t found = std::lower_bound(eig.spectrum.begin(), eig.spectrum.end(), end) - eig.spectrum.begin();
    return std::clamp(found, count.least, std::max(count.least, count.most));
  };
  const index_t first = below(low);
  proof.expected = below(high) - first;
  proof.doubtful = std::min<index_t>(proof.doubtful, std::ssize(eig.spectrum));  // near both ends
  return proof;
}

/// Proves the result for a tridiagonal matrix by Sturm counts.
template <class T>
EigProof prove_tridiagonal(const EigProblem<T>& problem, const EigSelection& selection, index_t shifts,
                           const SymmetricEig<T>& eig) {
  const std::vector<double> d(problem.d.begin(), problem.d.end()), e(problem.e.begin(), problem.e.end());
  const double norm = std::min(eig.norm, std::numeric_limits<double>::max()),
               accuracy = eig_bounds<T>(problem.n()).value * norm;
  EigProof proof;
  if (shifts > 0) proof.certificate = certify_spectrum(d, e, eig.values, accuracy, shifts, problem.seed);
  if (selection.range.empty()) return proof;
  const auto [low, high] = selection.interval();
  const auto below = [&](double end, index_t found) {
    const index_t least = tridiagonal_count_below<double>(d, e, end - accuracy),
                  most = tridiagonal_count_below<double>(d, e, end + accuracy);
    proof.doubtful += most - least;
    return std::clamp(found, least, most);
  };
  const index_t first = below(low, eig.first);
  proof.expected = below(high, eig.first + std::ssize(eig.values)) - first;
  proof.doubtful = std::min<index_t>(proof.doubtful, problem.n());  // near both ends
  return proof;
}

}  // namespace

template <class T>
EigProof prove(Runtime& runtime, const EigProblem<T>& problem, const EigSelection& selection, index_t shifts,
               const SymmetricEig<T>& eig) {
  if (!eig.status.ok() || (shifts == 0 && selection.range.empty())) return {};
  if constexpr (!is_complex<T>)
    if (!problem.d.empty()) return prove_tridiagonal(problem, selection, shifts, eig);
  if (problem.a.rows() != problem.n()) return {};
  Graph g(runtime);
  using Wide = with_parts<T, double>;
  HostMatrix<Wide> wide_a, wide_b;
  const TileMatrix<Wide> A = tiles_in_double(runtime, problem.a, wide_a);
  const double bound = eig_bounds<T>(problem.n()).value;
  const auto proved = [&](double accuracy, const auto& matrix, const std::function<SymmetricInertia(double)>& inertia) {
    return prove_by(selection, shifts, eig, accuracy, inertia,
                    [&] { return certify_spectrum<Wide>(g, matrix, eig.values, accuracy, shifts, problem.seed); });
  };
  if (problem.input.generalized()) {
    const SymmetricPencil<Wide> pencil(g, problem.kind(), A, tiles_in_double(runtime, problem.b, wide_b));
    return proved(bound * pencil.error_scale(eig.norm), pencil, [&](double end) { return pencil.inertia(g, end); });
  }
  return proved(bound * std::min(eig.norm, std::numeric_limits<double>::max()), A, [&](double end) -> SymmetricInertia {
    // Beyond the largest absolute row sum there is nothing to count, and T may not hold it.
    if (std::isinf(end) || !(std::abs(end) <= problem.largest_row_sum())) return {end < 0 ? 0 : problem.n(), 0};
    return symmetric_inertia(g, A, end);
  });
}

TESELA_FUNCTIONS_FOR_NUMBERS(prove)

}  // namespace tesela::cli
