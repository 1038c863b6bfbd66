#pragma once

#include "tools/bench/harness/factor_options.hpp"

#include <span>
#include <string>
#include <vector>

namespace tesela::bench {

/// Seconds that were published for one number of columns, single precision: of a GPU, and of sggglm.
struct PublishedModel {
  index_t n;
  double ours, lapack;
};

/// General linear models that differ in A's columns alone.
struct GlmRows {
  const char* benchmark;  ///< in messages
  index_t m = 0, p = 0, rhs = 1;
  std::vector<index_t> n;
  std::span<const PublishedModel> published = {};  ///< empty: not these sizes
};

/// Throws ArgumentError unless 1 <= n <= m <= n + p.
void require_sizes(const GlmRows& rows);

/// A case for each n. Peers are tesela (or model), gqr, factor (gls_factor), lapack, cusolver and cusolver-part.
template <class T>
void add_glm_rows(Report& report, Runtime& runtime, const FactorOptions& o, const GlmRows& rows);

}  // namespace tesela::bench
