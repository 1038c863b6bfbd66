#include "tests/support/test.hpp"
#include "tools/app/report.hpp"
#include "tools/checks/eig_error.hpp"
#include "tools/checks/factor_error.hpp"
#include "tools/checks/qr_error.hpp"
#include "tools/checks/reference.hpp"
#include "tools/checks/svd_error.hpp"
#include <tesela/algorithms/support/measured.hpp>
#include <tesela/algorithms/toeplitz/toeplitz_solve.hpp>
#include <tesela/algorithms/tridiagonal/tridiagonal_checked.hpp>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>

// No check of a command may have a limit that accepts a useless result as "ok".

using namespace tesela;
using namespace tesela::cli;
using Catch::Matchers::ContainsSubstring;

namespace {

/// Number of elements and order of an array of 1 TiB in single precision, which has the largest limits.
constexpr index_t most = index_t{1} << 38, order = index_t{1} << 19;
/// A limit that grows with the condition of the problem.
constexpr double without_end = std::numeric_limits<double>::infinity();

/// Returns the checks with limits of all commands, with the limit for the largest problem. If commands share a name,
/// the largest limit counts.
const std::map<std::string, double>& limits() {
  const EigBounds eig = eig_bounds<float>(order);
  const QrBounds qr = qr_bounds<float>(most, 1), square = qr_bounds<float>(order, order);
  const SvdBounds svd = svd_bounds<float>(order, order);
  const PcaBounds pca = pca_bounds<float>(most, 1);
  const double rounding = rounding_bound<float>(most), spectrum = useful_bound;  // spectrum_bounds
  static const std::map<std::string, double> all{
      // eig with its batches, jobs and iterations; toeplitz eig. For generalized problems times the condition of B.
      {"max_error", without_end},
      {"max_residual", without_end},
      {"orthogonality", without_end},
      {"trace_drift", trace_bound(eig, order)},
      {"frobenius_drift", useful_bound},  // iteration_bounds
      {"remaining", useful_bound},
      {"max_ritz_residual", spectrum},
      {"error_bound", spectrum},
      {"range_moved", without_end},  // in addition to the rounding of a count, for a narrow range
      {"symmetry", 100 * static_cast<double>(std::numeric_limits<float>::epsilon())},
      // lu, cholesky, qr, gqr, ols, gemm. For wls with division by a factor: times the condition of the factor.
      {"backward_error", without_end},
      {"solution_error", std::max(factor_bound<float>(order, true), factor_bound<float>(order, false))},
      {"componentwise_error", std::sqrt(static_cast<double>(std::numeric_limits<float>::epsilon()))},
      {"backward_error_a", rounding},
      {"backward_error_b", rounding},
      {"orthogonality_q", std::max(qr.orthogonality, square.orthogonality)},
      {"orthogonality_u", svd.orthogonality},
      {"orthogonality_v", std::max({qr.orthogonality, square.orthogonality, svd.orthogonality, pca.orthogonality})},
      {"norm_drift", svd.value},
      {"low_rank_error", svd.value},  // plus the bound of the error, which is the result's own
      // pca, tls
      {"mean_error", pca.value},
      {"share_error", pca.value},
      {"score_error", pca.value},
      {"invariance", rounding},
      {"column_error", std::sqrt(static_cast<double>(std::numeric_limits<float>::epsilon()))},
      {"correction_error", rounding},
      {"scaled_error", product_bound<float>(most)},
      // glm, wls, lse, nnls. The optimality: times the condition of B2.
      {"constraint_residual", useful_bound},
      {"optimality", without_end},
      {"normal_residual", without_end},  // for sem: times the condition of the data
      {"system_residual", without_end},
      // tridiag, toeplitz solve
      {"residual", std::max({toeplitz_residual_bound<float>(most), tridiagonal_residual_bound<float>, pca.value})},
      {"residual_equilibrated", tridiagonal_equilibrated_bound<float>},
      {"forward_bound", ToeplitzSolution{}.forward_bound().bound},
      // mimo
      {"metric_gap", 1e-6},
      {"llr_gap", 1e-5},
      {"distance_gap", 1e-6},
      {"qr_error", 1e-13},
  };
  return all;
}

/// Limits in other units: numbers of errors, and standard deviations of an error rate.
const std::set<std::string> counted{"uncertain",     "miscounted",       "certify_misses",
                                    "ml_mismatches", "count_mismatches", "zf_sigmas"};

/// Values without a limit.
const std::set<std::string> without_limit{"backward_error",
                                          "below",
                                          "below_skew",
                                          "below_symmetric",
                                          "best_error",
                                          "bit_errors",
                                          "bound",
                                          "build_seconds",
                                          "certified",
                                          "clusters",
                                          "condition",
                                          "condition_b",
                                          "constraint_condition",
                                          "constraint_rank",
                                          "converged",
                                          "correction",
                                          "covariance_rank",
                                          "distance",
                                          "largest_step",
                                          "doubtful",
                                          "effective_df",
                                          "eigenvalues",
                                          "error",
                                          "expected",
                                          "factor_condition",
                                          "factorizations",
                                          "failed",
                                          "forward_error",
                                          "found",
                                          "gap",
                                          "gcv",
                                          "growth",
                                          "host_bytes",
                                          "intervals",
                                          "iterations",
                                          "largest_multiplier",
                                          "largest_ratio",
                                          "levels",
                                          "levinson_breakdowns",
                                          "levinson_differs",
                                          "llr_gap",
                                          "llr_saturated",
                                          "matrix",
                                          "mean_attempts",
                                          "metric_gap",
                                          "ml_mismatches",
                                          "most",
                                          "most_points",
                                          "negative_pivots",
                                          "nodes_max",
                                          "nodes_mean",
                                          "nodes_median",
                                          "nodes_p99",
                                          "normal_residual",
                                          "nudged",
                                          "order",
                                          "points",
                                          "positive",
                                          "predicted_iterations",
                                          "rank",
                                          "rank_b",
                                          "relative_gap",
                                          "remaining_entries",
                                          "residual_componentwise",
                                          "residual_norm",
                                          "row",
                                          "sampled_matrices",
                                          "sampled_rows",
                                          "sampled_vectors",
                                          "search_seconds",
                                          "shift",
                                          "soft_failed",
                                          "soft_nodes_mean",
                                          "soft_seconds",
                                          "solution_norm",
                                          "svg_nodes",
                                          "symbol_errors",
                                          "ties",
                                          "time_in_solves",
                                          "truth_error",
                                          "u_norm",
                                          "uncertified",
                                          "vector_errors"};

std::string text_of(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("a limit above a hundredth is never ok for any measured error") {
  for (const double limit :
       {0.011, 1.0, 3.92, 1e136, std::numeric_limits<double>::infinity(), std::numeric_limits<double>::quiet_NaN()}) {
    CAPTURE(limit);
    CHECK_FALSE(Measured{0, limit}.good());
    CHECK_THAT(is_wrong("optimality", {0, limit}), ContainsSubstring("inaccurate: optimality"));
    Report report("test", {});
    report.check("optimality", Measured{1e-20, limit});
    CHECK_FALSE(report.good());
  }
  CHECK(is_wrong("optimality", {1e-2, 1e-2}).empty());
  CHECK_THAT(is_wrong("optimality", {2e-2, 1e-2}), ContainsSubstring("at most 0.01"));
  CHECK_THAT(is_wrong("optimality", {std::numeric_limits<double>::quiet_NaN(), 1e-2}), ContainsSubstring("not finite"));
  // A larger rcond may cut off more; the rank is then deficient and reported.
  CHECK(Measured{0.05, 1e-14, 0.1}.good());
  CHECK_FALSE(Measured{0.2, 1e-14, 0.1}.good());
  Report report("test", {});
  report.check_count("mistakes", 3, 4);
  CHECK(report.good());
  report.check_count("mistakes", 5, 4);
  CHECK_FALSE(report.good());
}

TEST_CASE("the limit of every check at the largest problem is useful, or its status is not ok") {
  for (const auto& [name, limit] : limits()) {
    CAPTURE(name, limit);
    CHECK((limit <= useful_bound || !is_wrong(name, {0, limit}).empty()));
    if (limit <= useful_bound) CHECK(is_wrong(name, {0, limit}).empty());
  }
}

TEST_CASE("the list of checks is complete") {
  const std::filesystem::path tools = std::filesystem::path(TESELA_TEST_DATA) / "../../tools";
  if (!std::filesystem::exists(tools)) SKIP("no sources here");
  const std::regex call(R"re((check|check_count|measured)\("([a-z_0-9]+)",\s*((?:[A-Za-z_:.]|\{)[A-Za-z_0-9:.]*))re");
  // Expressions of type Measured.
  const std::set<std::string> measured{
      "measured_optimality", "constraint", "residual", "s.residual", "s.error",      "s.moved", "remaining", "measured",
      "errors.backward",     "value",      "trace",    "frobenius",  "orthogonality"};
  std::set<std::string> found;
  for (const auto& file : std::filesystem::recursive_directory_iterator(tools)) {
    const std::string folder = file.path().lexically_relative(tools).begin()->string();
    if ((folder != "commands" && folder != "problems") || file.path().extension() == ".cu") continue;
    const std::string text = text_of(file.path());
    for (std::sregex_iterator at(text.begin(), text.end(), call), end; at != end; ++at) {
      const std::string how = (*at)[1], name = (*at)[2], value = (*at)[3];
      CAPTURE(file.path().string(), name, value);
      found.insert(name);
      if (how == "check_count")
        CHECK(counted.contains(name));
      else if (value.starts_with("Measured") || value.starts_with("{") || measured.contains(value))
        CHECK(limits().contains(name));
      else
        CHECK(without_limit.contains(name));
    }
  }
  CHECK(found.size() > 90);
  for (const auto& [name, limit] : limits()) {
    CAPTURE(name);
    CHECK(found.contains(name));
  }
}
