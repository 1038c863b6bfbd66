#pragma once

#include "tools/peers/harness.hpp"
#include <tesela/algorithms/econometrics/generated_model.hpp>

#include <string>
#include <vector>

namespace tesela::bench {

/// A generated model that peers estimate by 2SLS, from its data in host memory.
class SemData {
 public:
  SemData(const ModelSizes& sizes, std::uint64_t seed) : model_(generate_model(sizes, seed)), sizes_(sizes) {}

  const ModelSizes& sizes() const { return sizes_; }
  const GeneratedModel& model() const { return model_; }

  /// Returns the distance of the coefficients from the first checked peer's, relative to the largest of their equation,
  /// over 1e-9. Throws WrongResult if that is above 1. (The errors of the data decide the distance from the truth.)
  double check(const std::string& peer, const std::vector<std::vector<double>>& coefficients) const;

  /// LAPACK's: geqrf of all data, then for each equation geqrf of its dense columns, ormqr and a triangular solve.
  std::vector<std::vector<double>> by_lapack() const;

 private:
  GeneratedModel model_;
  ModelSizes sizes_;
  mutable std::vector<std::vector<double>> first_;
};

}  // namespace tesela::bench
