#pragma once

#include "tools/checks/qr_error.hpp"
#include <tesela/runtime/runtime.hpp>
#include <tesela/tiles/block_cyclic.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <cstdint>
#include <vector>

namespace tesela {

/// QrSample for matrices that are distributed over ranks: no rank holds more than some rows of a product with random
/// vectors. All ranks must make the same calls.
template <class T>
class QrPartsSample {
 public:
  /// R is the upper trapezoid of `factors`; this rank's part is `local`.
  QrPartsSample(const Runtime& runtime, const BlockCyclic& factors, const HostMatrix<T>& local, index_t vectors,
                std::uint64_t seed);

  /// Returns this rank's part of QrSample::block().
  HostMatrix<T> block(const BlockCyclic& part) const;

  /// Return the errors, from A, in the layout of the factors, and from Q block() or from min(m, n) or more columns of
  /// Q, which are multiplied by the random vectors here.
  QrError error_of_product(const HostMatrix<T>& a, const HostMatrix<T>& product, const BlockCyclic& part) const;
  QrError error_of_columns(const HostMatrix<T>& a, const HostMatrix<T>& q, const BlockCyclic& part) const;

 private:
  template <class Rows>
  QrError error(const HostMatrix<T>& a, const HostMatrix<T>& q, index_t columns, const Rows& rows) const;
  bool agree(bool finite) const;

  const Runtime& runtime_;
  BlockCyclic factors_;
  index_t vectors_;
  std::uint64_t seed_;
  int scale_ = 0;  // R X was divided by 2^scale_
  bool finite_ = true;
  std::vector<with_parts<T, double>> rx_;  // R X, min(m, n) rows
};

/// Returns column_ends() of the whole matrix, on all ranks.
template <class T>
std::vector<index_t> column_ends(const Runtime& runtime, const HostMatrix<T>& local, const BlockCyclic& part);

/// make_diagonal_positive() for R in the upper trapezoid of the factors, and Q.
template <class T>
void make_diagonal_positive(const Runtime& runtime, HostMatrix<T>& factors, const BlockCyclic& part, HostMatrix<T>& q,
                            const BlockCyclic& q_part);

/// Returns this rank's part of the first `rows` rows of upper_trapezoid(), in the layout of the factors.
template <class T>
HostMatrix<T> upper_trapezoid(const HostMatrix<T>& factors, const BlockCyclic& part, index_t rows);

}  // namespace tesela
