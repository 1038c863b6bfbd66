#pragma once

#include "tools/commands/dense/direct_solve.hpp"
#include <tesela/algorithms/dense/factor_stages.hpp>

#include <algorithm>
#include <optional>

namespace tesela::cli {

/// Both factorizations entry by entry.
template <class T>
class StageMethod : public DirectMethod<T> {
 public:
  explicit StageMethod(bool symmetric) : symmetric_(symmetric) {}
  TileShape tile(const Runtime&, index_t n, const std::string&) const override {
    return {std::max<index_t>(n, 1), std::max<index_t>(n, 1)};
  }
  void factor(Graph& g, const TileMatrix<T>& A) override { factors_.emplace(g, A, symmetric_); }
  index_t stop() const override { return factors_->stop(); }
  void solve(Graph& g, const TileMatrix<T>& X) const override { factors_->solve(g, X); }
  bool whole_columns() const override { return true; }
  void finish() override { factors_.reset(); }

 private:
  bool symmetric_;
  std::optional<StageFactorization<T>> factors_;
};

}  // namespace tesela::cli
