#pragma once

#include <tesela/runtime/runtime.hpp>
#include <tesela/tiles/generator.hpp>
#include <tesela/tiles/host_matrix.hpp>

#include <memory>
#include <string>

namespace tesela::bench {

/// What is factored, and where it lives.
struct TallSkinnyCase {
  index_t m = 0, n = 0;
  index_t rows = 0;  ///< of a tile, which has all n columns
  std::uint64_t seed = 1;
  bool on_device = false;  ///< A generated on the GPUs
};

/// The matrix of uniform numbers that the peers share, and what its R must satisfy.
template <class T>
class TallSkinnyData {
 public:
  TallSkinnyData(Runtime& runtime, const TallSkinnyCase& what);

  const TallSkinnyCase& what() const { return what_; }
  Runtime& runtime() const { return *runtime_; }
  Generator<T> generator() const { return {Pattern::uniform, T(0), what_.n, what_.seed, what_.m}; }

  /// A in page-locked host memory, which no peer changes; not for data on the devices.
  const T* a() const { return static_cast<const T*>(a_->data()); }

  /// Checks an n x n R, whatever its signs: answers max |R^T R - A^T A|(i, j) / (||a_i|| ||a_j||) over its bound,
  /// 1e-14 sqrt(n) (single: 1e-5), A^T A summed in double. Throws WrongResult where that is above 1.
  double check(const std::string& peer, const HostMatrix<T>& r) const;

 private:
  Runtime* runtime_;
  TallSkinnyCase what_;
  std::unique_ptr<HostBuffer> a_;
  HostMatrix<double> gram_;  ///< A^T A
};

extern template class TallSkinnyData<float>;
extern template class TallSkinnyData<double>;

}  // namespace tesela::bench
