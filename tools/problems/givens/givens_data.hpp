#pragma once

#include "tools/peers/harness.hpp"
#include <tesela/algorithms/givens/givens.hpp>

#include <memory>
#include <string>
#include <vector>

namespace tesela::bench {

/// What is factored: uniform elements in [-1, 1), those further than half_width from the diagonal zero.
struct GivensCase {
  index_t m = 0, n = 0;
  index_t half_width = -1;    ///< negative: dense
  bool with_q = false;        ///< m = n, and Q is wanted as well
  index_t nb = 64, mb = 256;  ///< columns of A, and rows of Q, of a tile
  index_t window = 32;
  std::uint64_t seed = 1;
  bool band() const { return half_width >= 0; }
};

/// A, and room for R and Q, in host memory, page-locked where there is a GPU.
template <class T>
class GivensData {
 public:
  GivensData(Runtime& runtime, const GivensCase& what);
  const GivensCase& what() const { return what_; }
  Runtime& runtime() const { return *runtime_; }
  const T* a() const { return static_cast<const T*>(a_.data()); }
  T* r() const { return static_cast<T*>(r_.data()); }  ///< m x n; below the diagonal anything
  T* q() const { return static_cast<T*>(q_.data()); }  ///< m x m
  void copy_a_to_r() const;

  /// A peer's verification: poisons R and Q with NaN, runs, and answers the largest error over its bound. With Q:
  /// ||A x - Q R x|| / (||A||_F ||x||) and ||Q^T Q x - x|| / ||x||; without: ||R^T R x - A^T A x|| / (||A||_F^2 ||x||),
  /// for a fixed x. The bounds are 5e-15 sqrt(n), or 5e-6 in single precision, and for orthogonality 20 times that.
  double verify(const std::string& peer, const std::function<void()>& run) const;

 private:
  std::vector<double> times(const T* x, index_t rows, index_t cols, bool transposed, bool upper,
                            const std::vector<double>& v) const;
  Runtime* runtime_;
  GivensCase what_;
  HostBuffer a_, r_, q_;
};

extern template class GivensData<float>;
extern template class GivensData<double>;

/// Seconds of each run's transfers, which a peer's own time leaves out.
struct Transfers {
  std::vector<double> in, out;
};

/// Returns the peer with its transfers in its time.
Peer with_transfers(const Peer& peer, const std::shared_ptr<Transfers>& transfers);

/// Our graph. A is first copied to where it is factored (in), R and Q are copied back afterwards (out): neither counts.
template <class T>
Peer tesela_givens(const GivensData<T>& data, const std::string& name, const GivensOptions& options,
                   const std::shared_ptr<Transfers>& transfers);
/// The same with A in band storage.
template <class T>
Peer tesela_givens_band(const GivensData<T>& data, const std::string& name,
                        const std::shared_ptr<Transfers>& transfers);
/// The sequential method's CPU variant, called directly: R, then Q if it is wanted.
template <class T>
Peer sequential_givens(const GivensData<T>& data);
/// LAPACK geqrf (and orgqr) over OpenBLAS on these threads; 0: all cores.
template <class T>
Peer lapack_givens(const GivensData<T>& data, const std::string& name = "lapack", int threads = 0);
/// The same by MKL, whose library libmkl_rt.so is `file`. Throws EnvironmentError without it.
template <class T>
Peer mkl_givens(const GivensData<T>& data, const std::string& name, int threads, const std::string& file);
/// cuSOLVER geqrf (and orgqr) on device 0, operands there.
template <class T>
Peer cusolver_givens(const GivensData<T>& data);

}  // namespace tesela::bench
