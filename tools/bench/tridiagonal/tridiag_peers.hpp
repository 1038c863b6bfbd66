#pragma once

#include "tools/problems/tridiagonal/tridiag_data.hpp"

namespace tesela::bench {

/// The systems of a TridiagData in page-locked host memory: what all solvers of one layout share. Bands are not to be
/// changed; B is there in as many copies as a solver may want.
template <class T>
class HostSystems {
 public:
  HostSystems(const TridiagData<T>& data, kernels::SystemsIn systems, index_t copies);

  kernels::TridiagonalRow<T*> bands() const { return {array(0), array(1), array(2)}; }
  T* b(index_t copy) const { return static_cast<T*>(work_[static_cast<std::size_t>(copy)]->data()); }
  index_t copies() const { return static_cast<index_t>(work_.size()); }
  std::size_t bytes() const { return bytes_; }  ///< of one array
  void restore() const;                         ///< every copy of B

 private:
  T* array(std::size_t which) const { return static_cast<T*>(arrays_[which]->data()); }
  std::size_t bytes_;
  std::vector<std::unique_ptr<HostBuffer>> arrays_, work_;  // dl, d, du and b; copies of b
};

/// tridiagonal_solve. `host` is null for systems on the devices: each of these holds its share of the tiles.
template <class T>
std::unique_ptr<TridiagSolver<T>> tesela_tridiag(const TridiagData<T>& data, kernels::SystemsIn systems, index_t solves,
                                                 std::shared_ptr<const HostSystems<T>> host);

/// parallel_reduction by name: pcr, rd, cr-pcr (which leaves half of the rows to pcr), cr-rd (a quarter), and cr, which
/// goes on until one is left.
template <class T>
std::unique_ptr<TridiagSolver<T>> reduction_tridiag(const TridiagData<T>& data, const std::string& name, index_t solves,
                                                    std::shared_ptr<const HostSystems<T>> host);

/// gtsv of LAPACK and the textbook's elimination without pivoting, on one core; the systems of a batch on all.
template <class T>
std::unique_ptr<TridiagSolver<T>> lapack_tridiag(const TridiagData<T>& data,
                                                 std::shared_ptr<const HostSystems<T>> host);
template <class T>
std::unique_ptr<TridiagSolver<T>> thomas_tridiag(const TridiagData<T>& data,
                                                 std::shared_ptr<const HostSystems<T>> host);

#if TESELA_HAVE_CUDA
/// Returns cuSPARSE's solvers on device 0, by name: one system by gtsv2 and gtsv2-nopivot, batches by strided (in
/// columns: gtsv2StridedBatch) and interleaved-0, -1, -2 (in rows: gtsvInterleavedBatch with that algorithm). They
/// share device memory by layout. An interleaved solver has fewer `solves`: it overwrites the bands, so it keeps copies
/// of them too.
template <class T>
TridiagSolvers<T> cusparse_tridiag(const TridiagData<T>& data, const std::vector<std::string>& names, index_t solves);
#endif

}  // namespace tesela::bench
