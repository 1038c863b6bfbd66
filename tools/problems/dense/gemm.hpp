#pragma once

#include "tools/app/arguments.hpp"
#include "tools/problems/method.hpp"
#include <tesela/algorithms/dense/gemm.hpp>
#include <tesela/tiles/generator.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tesela::cli {

/// Options of Tesela's own product.
struct GemmMethod {
  std::string tile, kernel = "automatic", accuracy = "normwise";
  int block = 32;

  /// Adds --tile, --kernel, --accuracy and --block.
  void add_to(App& app);
  /// Returns the options with tiles for these sizes, and for matrices on the GPUs if `on_devices`. Throws
  /// EnvironmentError if the kernel needs a GPU.
  GemmOptions options(const std::string& command, const Runtime& runtime, index_t m, index_t n, index_t k,
                      bool on_devices = false) const;
};

/// C = alpha op(A) op(B) + beta C: the matrices, and the memory that the methods share.
template <class T>
struct GemmProblem {
  Op op_a = Op::none, op_b = Op::none;
  index_t m = 0, n = 0, k = 0;
  T alpha = 1, beta = 0;
  GemmOptions options = {};  ///< of the method tiles
  std::uint64_t seed = 1;
  Runtime* runtime = nullptr;
  HostMatrix<T> a = {}, b = {};       ///< this rank's parts
  HostMatrix<T> before = {}, c = {};  ///< C before and after a run; `before` is empty if beta is 0
  bool resident = false;              ///< A, B and C have no host memory: their tiles stay on the devices
  bool sampled = false;               ///< A and B are generated, and entries of C are checked, NaN before each run
  std::vector<PinnedMemory> pinned = {};
  struct Tiles {
    TileMatrix<T> A, B, C;
  };
  std::optional<Tiles> tiles = {};

  /// Generates A and B for a benchmark, uniform in [-1, 1): in page-locked memory, or on the devices once a method
  /// uses them there.
  void generate_uniform(bool on_devices);
  Generator<T> generator(bool of_b) const { return {Pattern::uniform, T(0), of_b ? n : k, 2 * seed + (of_b ? 1 : 0)}; }
  /// Restores C, and the tiles if a method uses them: no device has a copy of host memory then.
  void restore(bool in_tiles);
  double flops() const {
    return 2.0 * flops_each<T> * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  }
};

/// Returns an element of the last run's C, from the place where it is valid.
template <class T>
using GemmResult = std::function<T(index_t i, index_t j)>;

/// The table of methods: tiles, OpenBLAS, cuBLAS, cublasXt and plain StarPU. Only tiles has alpha, beta and transposes.
template <class T>
std::vector<Method<GemmProblem<T>, GemmResult<T>>> gemm_table();

/// Returns the largest error of sampled entries of C = A B relative to its bound. Throws WrongResult if it exceeds 1.
template <class T>
double check_peer(const std::string& peer, const GemmProblem<T>& problem, const GemmResult<T>& c);

}  // namespace tesela::cli
