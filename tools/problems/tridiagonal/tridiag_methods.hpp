#pragma once

#include "tools/problems/method.hpp"
#include "tools/problems/tridiagonal/tridiag_data.hpp"
#include "tools/problems/tridiagonal/tridiag_problem.hpp"
#include <tesela/algorithms/tridiagonal/cyclic_reduction.hpp>
#include <tesela/algorithms/tridiagonal/tridiagonal_methods.hpp>
#include <tesela/algorithms/tridiagonal/tridiagonal_refinement.hpp>

#include <array>
#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace tesela::bench {

/// The systems of a TridiagData in page-locked host memory, which all methods of one layout share. Only B changes; it
/// exists in several copies.
template <class T>
class HostSystems {
 public:
  HostSystems(const TridiagData<T>& data, kernels::SystemsIn systems, index_t copies);

  kernels::TridiagonalRow<T*> bands() const { return {array(0), array(1), array(2)}; }
  T* b(index_t copy) const { return static_cast<T*>(work_[static_cast<std::size_t>(copy)]->data()); }
  std::size_t bytes() const { return bytes_; }  ///< of one array
  void restore() const;                         ///< sets every copy of B

 private:
  T* array(std::size_t which) const { return static_cast<T*>(arrays_[which]->data()); }
  std::size_t bytes_;
  std::vector<std::unique_ptr<HostBuffer>> arrays_, work_;  // dl, d, du and b; copies of b
};

/// The same arrays in the memory of device 0.
template <class T>
class DeviceSystems;

/// A X = B in parts that a method solves one by one: a command's systems, or `solves` copies of a benchmark's B with
/// one A.
template <class T>
struct TridiagProblem {
  using Parts = std::vector<cli::TridiagTiles<T>>;

  TridiagProblem(Runtime& on, std::function<void(Parts&)> restore) : runtime(&on), restore_parts(std::move(restore)) {}
  explicit TridiagProblem(const TridiagData<T>& systems, index_t copies = 1)
      : runtime(&systems.runtime()), last(copies), data(&systems), solves(copies) {
    options.systems.one_pass = systems.what().one_pass;
  }

  Runtime* runtime;
  TridiagonalMethodOptions options = {};                          ///< of each method that has these options
  RefinementOptions refinement = {};                              ///< of refined and mixed
  std::function<void(Parts&)> restore_parts = {};                 ///< of a command: makes the parts, and X = B
  index_t first = 0, last = std::numeric_limits<index_t>::max();  ///< a run solves the parts first … last - 1

  // Of a benchmark.
  const TridiagData<T>* data = nullptr;
  index_t solves = 1;
  std::array<std::shared_ptr<const HostSystems<T>>, 2> hosts = {};
  std::array<std::shared_ptr<const DeviceSystems<T>>, 2> devices = {};

  /// Makes the parts in one layout if there are none, and restores X = B. No device has a copy of host memory then.
  void restore(kernels::SystemsIn systems, Parts& parts);
  /// Returns whether a run copies X to host memory, which needs no copy in a benchmark on cores.
  bool comes_home() const { return data == nullptr || (!data->what().on_device && runtime->gpus() > 0); }

  /// Returns the arrays of one layout; null if the data are on the devices.
  std::shared_ptr<const HostSystems<T>> host(kernels::SystemsIn systems) {
    auto& arrays = hosts[systems == kernels::SystemsIn::columns ? 0 : 1];
    if (!arrays && !data->what().on_device) arrays = std::make_shared<const HostSystems<T>>(*data, systems, solves);
    return arrays;
  }
};

template <class T>
struct TridiagAnswer {
  kernels::SystemsIn systems;
  index_t solves;                                        ///< copies of B that the method has
  std::function<void(index_t copy, T* x)> copy_to = {};  ///< copies a solution to host memory, without gaps
  std::vector<RefinedSolve> refined = {};                ///< of each part, if the method refines
};

template <class T>
using TridiagMethod = cli::Method<TridiagProblem<T>, TridiagAnswer<T>>;
template <class T>
using TridiagSolver = cli::Solver<TridiagAnswer<T>>;

/// cuSPARSE's solvers of one system and of batches; our reductions of many small systems, and our refined solves.
inline const std::vector<std::string> cusparse_single{"gtsv2", "gtsv2-nopivot"};
inline const std::vector<std::string> cusparse_batch{"strided", "interleaved-0", "interleaved-1", "interleaved-2"};
inline const std::vector<std::string> reductions{"cr", "pcr", "rd", "cr-pcr", "cr-rd"};
inline const std::vector<std::string> refinements{"refined", "mixed"};

/// Returns Tesela's methods: the library's, refined and mixed.
template <class T>
std::vector<TridiagMethod<T>> tridiag_table();

/// Returns the methods of a benchmark: the library's default in columns and rows, the peers, reductions of real numbers
/// and refinements. In a reduction, cr-pcr leaves half of the rows to pcr, cr-rd a quarter to rd, and cr reduces to one
/// row.
template <class T>
std::vector<TridiagMethod<T>> tridiag_bench_table();

/// Returns the solver by cyclic reduction. One graph serves all runs, so that its work space stays where it is.
template <class T>
TridiagSolver<T> by_cyclic_reduction(TridiagProblem<T>& problem, const CyclicReductionOptions& options);

/// Returns the largest residual of the first and the last copy relative to its bound. Throws WrongResult if it exceeds
/// 1.
template <class T>
double check_peer(const std::string& peer, const TridiagProblem<T>& problem, const TridiagAnswer<T>& answer);

#if TESELA_HAVE_CUDA
/// Returns cuSPARSE's solver of this name. An interleaved one has fewer copies of B: it overwrites the bands, so it
/// keeps copies of them too. Throws EnvironmentError if its work space exceeds the device.
template <class T>
TridiagSolver<T> by_cusparse(TridiagProblem<T>& problem, const std::string& name);
#endif

}  // namespace tesela::bench
