#pragma once

#include <tesela/algorithms/econometrics/generated_model.hpp>

#include <memory>
#include <vector>

namespace tesela::bench {

/// 2SLS by cuSOLVER on CUDA device 0, outside any graph: geqrf of all data, then for each equation geqrf of its dense
/// columns, ormqr and a triangular solve. Coefficients alone.
class CusolverSem {
 public:
  /// Allocates. Throws EnvironmentError without a CUDA device, in a build without CUDA and without enough device
  /// memory.
  explicit CusolverSem(const GeneratedModel& model);
  ~CusolverSem();
  CusolverSem(const CusolverSem&) = delete;
  CusolverSem& operator=(const CusolverSem&) = delete;

  /// Every equation's coefficients, from the model's data in host memory.
  std::vector<std::vector<double>> solve() const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tesela::bench
