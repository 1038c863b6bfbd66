// Householder's reduction of a small matrix. Guarded by Highway's toggle, like vectors_inl.hpp. Internal to
// codelets/eigen.
#include <tesela/codelets/eigen/internal/columns_inl.hpp>
#include <tesela/codelets/eigen/internal/reflector_inl.hpp>

#include <algorithm>
#include <vector>

#if defined(TESELA_EIGEN_SMALL_TRIDIAGONAL_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TESELA_EIGEN_SMALL_TRIDIAGONAL_INL
#undef TESELA_EIGEN_SMALL_TRIDIAGONAL_INL
#else
#define TESELA_EIGEN_SMALL_TRIDIAGONAL_INL
#endif

HWY_BEFORE_NAMESPACE();
namespace tesela::kernels::eigen::HWY_NAMESPACE {

/// Zeros in whole cache lines, so that vectors of columns do not cross them.
template <class T>
class CacheLines {
 public:
  explicit CacheLines(index_t count) : lines_(static_cast<std::size_t>(ceil_div(count, numbers))) {}
  T* data() { return lines_.data()->at; }

 private:
  static constexpr index_t numbers = 64 / sizeof(T);
  struct alignas(64) Line {
    T at[numbers];
  };
  std::vector<Line> lines_;
};

/// Reduces one small symmetric matrix in cache, A = Q T Q^T. Both triangles are kept, so that products with A use
/// columns and no sum crosses lanes. A step reads each column once: it applies the last reflector's update and adds to
/// the next reflector's product. Columns are padded by zeros to whole vectors.
template <class T>
class SmallTridiagonal {
 public:
  explicit SmallTridiagonal(index_t order)
      : n_(order),
        ld_(ceil_div(order, w) * w),
        step_(ld_ * index_t{sizeof(T)} % 512 == 0 ? ld_ + 2 * w : ld_),  // otherwise columns would share cache sets
        a_(step_ * order + w),
        numbers_(4 * ld_),
        tau_(static_cast<std::size_t>(order)) {}

  index_t padded() const { return ld_; }
  index_t step() const { return step_; }
  T* column(index_t j) { return a_.data() + j * step_; }

  /// Writes d(i) and e(i) to d[i * stride] and e[i * stride], and Q, with columns `step()` apart, to q if that is not
  /// null. The matrix is destroyed.
  HWY_INLINE void reduce(T* d, T* e, index_t stride, T* q) {
    const index_t n = n_;
    T *v = numbers_.data(), *x = v + ld_, *u = x + ld_, *y = u + ld_;
    std::fill_n(v, 4 * ld_, T(0));
    if (q != nullptr) std::fill_n(q, step_ * n, T(0));
    for (index_t j = 0; j < n; ++j) {
      T* const a = column(j);
      update<1>(j / w * w, a, v, &x[j], x, &v[j]);
      d[j * stride] = a[j];
      e[j * stride] = j + 1 < n ? a[j + 1] : T(0);
      if (j + 2 >= n) continue;  // no reflector, but one more column needs the last reflector's update
      std::fill_n(u, j + 1, T(0));
      std::copy(a + j + 1, a + n, u + j + 1);
      const auto [beta, tau] = Reflector<T>::make(n - j - 1, u + j + 1, SquaresOf<T>());
      e[j * stride] = beta;
      tau_[static_cast<std::size_t>(j)] = tau;
      if (q != nullptr) std::copy_n(u, ld_, q + (j + 1) * step_);
      std::fill_n(y, ld_, T(0));
      const index_t begin = (j + 1) / w * w;
      index_t c = j + 1;
      for (; c + 4 <= n; c += 4) update<4>(begin, column(c), v, x + c, x, v + c, u + c, y);
      for (; c < n; ++c) update<1>(begin, column(c), v, x + c, x, v + c, u + c, y);
      const T half = tau * tau / 2 * dot(ld_, y, u);
      for (index_t i = 0; i < ld_; ++i) x[i] = tau * y[i] - half * u[i];
      std::swap(u, v);
    }
    if (q != nullptr) form(q);
  }

 private:
  static constexpr index_t w = lanes<T>;

  /// Computes a_c -= x p_c + y q_c from row `begin` on, then sum += a_c u_c if there is a sum.
  template <int C>
  HWY_INLINE void update(index_t begin, T* a, const T* x, const T* p, const T* y, const T* q, const T* u = nullptr,
                         T* sum = nullptr) {
    const GroupWeights<C, T> ps(p), qs(q), us(sum != nullptr ? u : p);
    for (index_t i = begin; i < ld_; i += w) {
      const Vec<T> xi = load(x + i), yi = load(y + i);
      Vec<T> si = zeros<T>();
      if (sum != nullptr) si = load(sum + i);
      for (int c = 0; c < C; ++c) {
        Vec<T> ai = hn::NegMulAdd(xi, ps[c], load(a + c * step_ + i));
        ai = hn::NegMulAdd(yi, qs[c], ai);
        store(a + c * step_ + i, ai);
        si = hn::MulAdd(ai, us[c], si);
      }
      if (sum != nullptr) store(sum + i, si);
    }
  }

  /// Overwrites the reflectors by Q; column j + 1 holds step j's reflector (LAPACK orgtr).
  HWY_INLINE void form(T* q) {
    const index_t n = n_;
    T* const v = numbers_.data();
    q[0] = 1;
    if (n > 1) q[(n - 1) * (step_ + 1)] = 1;
    for (index_t j = n - 3; j >= 0; --j) {
      const index_t begin = (j + 1) / w * w;
      const T tau = tau_[static_cast<std::size_t>(j)];
      T* const own = q + (j + 1) * step_;
      std::copy_n(own, ld_, v);
      for (index_t i = begin; i < ld_; ++i) own[i] = -tau * v[i];
      own[j + 1] += 1;
      index_t c = j + 2;
      for (; c + 4 <= n; c += 4) reflect<4>(begin, q + c * step_, v, tau);
      for (; c < n; ++c) reflect<1>(begin, q + c * step_, v, tau);
    }
  }
  /// Computes a_c -= tau v (v . a_c).
  template <int C>
  HWY_INLINE void reflect(index_t begin, T* a, const T* v, T tau) {
    Vec<T> sums[C];
    for (int c = 0; c < C; ++c) sums[c] = zeros<T>();
    for (index_t i = begin; i < ld_; i += w) {
      const Vec<T> vi = load(v + i);
      for (int c = 0; c < C; ++c) sums[c] = hn::MulAdd(load(a + c * step_ + i), vi, sums[c]);
    }
    T weights[C];
    for (int c = 0; c < C; ++c) weights[c] = tau * sum<T>(sums[c]);
    const GroupWeights<C, T> p(weights);
    for (index_t i = begin; i < ld_; i += w) {
      const Vec<T> vi = load(v + i);
      for (int c = 0; c < C; ++c) store(a + c * step_ + i, hn::NegMulAdd(vi, p[c], load(a + c * step_ + i)));
    }
  }

  index_t n_, ld_, step_;
  CacheLines<T> a_, numbers_;
  std::vector<T> tau_;
};

}  // namespace tesela::kernels::eigen::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
