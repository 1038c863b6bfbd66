#pragma once

#include "tools/checks/glm_error.hpp"
#include "tools/problems/least_squares/ols.hpp"
#include <tesela/algorithms/least_squares/glm.hpp>

namespace tesela::cli {

/// min ||u|| with b = A x + F u, for each column b of B.
template <class T>
struct GlmProblem : OlsProblem<T> {
  HostMatrix<T> factor = {}, work_factor = {};  ///< F, m x p, and F in a run
  double u_norm = -1;                           ///< ||U|| of the first peer that was checked; negative before

  /// Generates uniform matrices for a benchmark, with p columns of F.
  void generate_uniform(index_t p, bool on_workers);
  /// Generates A and F of these kinds, and B = A X + F U of uniform X and U, or a uniform B.
  void generate_model(index_t p, const std::string& random, const std::string& random_f, bool inconsistent);
  Generator<T> factor_generator() const {
    return {Pattern::uniform, T(0), factor.cols(), this->seed + 2, this->shape.rows};
  }
  /// Returns the options of the row of this name, and tiles for them.
  GlmOptions glm_options(const std::string& name) const;
  GlmTiles glm_tiles(const GlmOptions& options) const;
  void describe(const std::string& name, nlohmann::json& report) const;
  /// R of A, Q^H [F B], and the QR of the last m - n rows of Q^H F: all methods are rated by this cheaper way.
  double flops() const;
  void restore();  ///< as OlsProblem, and F
  void restore_factor();
  static constexpr const char* judge() { return "seminormal"; }
  bool full_rank(const Glm<T>& answer) const {
    return answer.rank == this->shape.cols && answer.rank_b == this->shape.rows - this->shape.cols;
  }
};

/// The table of methods: Tesela's, LAPACK's ggglm, and for real numbers cuSOLVER. A library's solution has X, U and a
/// status only.
template <class T>
std::vector<Method<GlmProblem<T>, Glm<T>>> glm_table();

/// Measures the errors of a solution on the original matrices.
template <class T>
GlmError measure_glm(const GlmProblem<T>& problem, const Glm<T>& answer);

/// Returns the larger of `error` relative to `bound`, and the distance of ||U|| from the norm of the first peer that
/// was checked, relative to peer_distance. Throws WrongResult if it is above 1.
template <class T>
double check_model(const std::string& peer, GlmProblem<T>& problem, double error, double bound, double u_norm);

/// Returns check_model() for ||b - A x - F u|| / (||A|| ||x|| + ||F|| ||u|| + ||b||) and model_bound().
template <class T>
double check_peer(const std::string& peer, GlmProblem<T>& problem, const Glm<T>& answer);

/// Returns peer_bound() for max(m, p).
template <class T>
double model_bound(const GlmProblem<T>& problem);

}  // namespace tesela::cli
