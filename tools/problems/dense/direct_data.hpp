#pragma once

#include "tools/peers/harness.hpp"
#include <tesela/runtime/runtime.hpp>
#include <tesela/tiles/host_matrix.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <memory>
#include <vector>

namespace tesela::bench {

/// Which factorization.
enum class DirectKind : std::uint8_t { cholesky, lu, lu_without_pivots };

struct DirectCase {
  DirectKind kind = DirectKind::lu;
  index_t n = 0;
  TileShape tile = {};
  std::uint64_t seed = 1;
  bool on_device = false;
};

/// The matrix that the peers of a factorization share, and what its factors must satisfy: uniform random numbers, for
/// Cholesky symmetric and with 2 sqrt(n) + 1 added to the diagonal, without pivots n.
template <class T>
class DirectData {
 public:
  DirectData(Runtime& runtime, const DirectCase& what);
  const DirectCase& what() const { return what_; }
  Runtime& runtime() const { return *runtime_; }
  const HostMatrix<T>& original() const { return original_; }
  /// Page-locked host memory that holds A again after restore(); not for data on the devices.
  T* a() const { return static_cast<T*>(work_->data()); }
  void restore() const;

  /// Answers ||P A - L U|| / ||A||, or of A - R^T R, over its bound (factor_bound); throws WrongResult where that is
  /// above 1. `rows`: row i of P A is row rows[i] of A.
  double check(const std::string& peer, const HostMatrix<T>& factors, const std::vector<index_t>& rows) const;
  /// max |U| / max |A| as the last check saw it.
  double growth() const { return growth_; }

 private:
  Runtime* runtime_;
  DirectCase what_;
  HostMatrix<T> original_;
  std::unique_ptr<HostBuffer> work_;
  mutable double growth_ = 0;
};

/// Exchanges of rows, counted from 1 as LAPACK does, as a permutation of n rows.
std::vector<index_t> rows_of(index_t n, const std::vector<int>& swaps);

/// The peers. A is put back before each run, outside the time; with data on the host every transfer is timed.
template <class T>
Peer tesela_direct(const DirectData<T>& data);
template <class T>
Peer lapack_direct(const DirectData<T>& data);  ///< potrf or getrf of OpenBLAS on all cores
template <class T>
Peer cusolver_direct(const DirectData<T>& data);  ///< potrf or getrf, with or without pivots, on device 0

}  // namespace tesela::bench
