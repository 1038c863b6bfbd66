#include <tesela/codelets/iterations/iteration_steps.hpp>
#include <tesela/host/blas.hpp>

#include <algorithm>

#define HWY_TARGET_INCLUDE "tesela/codelets/iterations/iteration_steps.cpp"
#include <tesela/codelets/support/internal/vectors_inl.hpp>
// Must follow the vectors.
#include <tesela/codelets/iterations/internal/steps_inl.hpp>

HWY_BEFORE_NAMESPACE();
namespace tesela::kernels::iterations::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Vectors of at most 32 bytes: the matrices are small.
template <class T>
using Tag = hn::CappedTag<T, 32 / sizeof(T)>;

/// Two vectors of neighbouring rows.
template <class T>
struct TwoVectors {
  static constexpr index_t lanes = static_cast<index_t>(hn::MaxLanes(Tag<T>())), rows = 2 * lanes;
  hn::Vec<Tag<T>> a, b;
  HWY_INLINE TwoVectors() : a(hn::Zero(Tag<T>())), b(hn::Zero(Tag<T>())) {}
};
template <class T>
TESELA_STEP void get(TwoVectors<T>& v, const T* from) {
  v.a = hn::LoadU(Tag<T>(), from);
  v.b = hn::LoadU(Tag<T>(), from + TwoVectors<T>::lanes);
}
template <class T>
TESELA_STEP void put(const TwoVectors<T>& v, T* to) {
  hn::StoreU(v.a, Tag<T>(), to);
  hn::StoreU(v.b, Tag<T>(), to + TwoVectors<T>::lanes);
}
template <class T>
TESELA_STEP void meet(const Rotation<T>& x, TwoVectors<T>& value, TwoVectors<T>& carried) {
  const auto c = hn::Set(Tag<T>(), x.c), s = hn::Set(Tag<T>(), x.s);
  const auto rotated = [&](auto& upper, auto& lower) HWY_ATTR {
    const auto above = hn::MulAdd(c, upper, hn::Mul(s, lower));
    upper = hn::NegMulAdd(s, upper, hn::Mul(c, lower));
    lower = above;
  };
  rotated(value.a, carried.a);
  rotated(value.b, carried.b);
}

/// Team of one core.
template <class T>
struct SingleCoreTeam {
  static constexpr bool alone = true;
  static constexpr index_t rank = 0, size = 1, group = 0, groups = 1, lane = 0, lanes = 1;
  using Strip = TwoVectors<T>;

  TESELA_STEP void sync() const {}
  TESELA_STEP void together() const {}
  TESELA_STEP const SingleCoreTeam& narrow() const { return *this; }
  TESELA_STEP T sum(T value) const { return value; }

  TESELA_STEP T dot(index_t n, const T* x, const T* y) const {
    constexpr index_t w = TwoVectors<T>::lanes;
    auto sum0 = hn::Zero(Tag<T>()), sum1 = sum0;
    index_t i = 0;
    for (; i + 2 * w <= n; i += 2 * w) {
      sum0 = hn::MulAdd(hn::LoadU(Tag<T>(), x + i), hn::LoadU(Tag<T>(), y + i), sum0);
      sum1 = hn::MulAdd(hn::LoadU(Tag<T>(), x + i + w), hn::LoadU(Tag<T>(), y + i + w), sum1);
    }
    T all = hn::GetLane(hn::SumOfLanes(Tag<T>(), hn::Add(sum0, sum1)));
    for (; i < n; ++i) all += x[i] * y[i];
    return all;
  }
  TESELA_STEP void axpy(index_t n, T alpha, const T* __restrict x, T* __restrict y) const {
    for (index_t i = 0; i < n; ++i) y[i] += alpha * x[i];
  }
  TESELA_STEP void scale(index_t n, T alpha, T* x) const {
    for (index_t i = 0; i < n; ++i) x[i] *= alpha;
  }
  TESELA_STEP void product(index_t m, index_t n, index_t k, const T* a, index_t lda, const T* b, index_t ldb, T* c,
                           index_t ldc) const {
    blas::gemm(Op::none, Op::none, m, n, k, T(1), a, lda, b, ldb, T(0), c, ldc);
  }
};

namespace {

template <class T>
Arrays<T> arrays(const Block<T>& d, const Block<T>& p, bool vectors, index_t n, index_t half, T* work, Shared& shared) {
  T* const largest = work + 2 * n * half;
  return {.d = d.data,
          .stride = d.ld,
          .p = p.data,
          .p_rows = vectors ? p.rows : 0,
          .ldp = p.ld,
          .rotations = reinterpret_cast<Rotation<T>*>(work),
          .largest = largest,
          .numbers = largest + n,
          .q = largest + 3 * n,
          .ld = n | 1,
          .shared = &shared};
}

template <class T>
void qr(const typename QrSteps<T>::Args& args, const Block<T>& d, const Block<T>& p, IterationProgress& progress,
        T* work) {
  const index_t n = d.cols;
  const bool band = args.half_width >= 0;
  const index_t half = band ? args.half_width : std::max<index_t>(n - 1, 0);
  Shared shared{progress};
  Arrays<T> x = arrays<T>(d, p, args.vectors, n, half, work, shared);
  if (band) x.d = d.data + half, x.stride = d.ld - 1;
  qr_loop<SingleCoreTeam<T>, T>({}, args, half, x);
  progress = shared.progress;
}

template <class T>
void lr(const typename LrSteps<T>::Args& args, const Block<T>& d, IterationProgress& progress, T* work) {
  const index_t n = d.cols;
  Shared shared{progress};
  const Arrays<T> x = arrays<T>(d, Block<T>{}, false, n, std::max<index_t>(n - 1, 0), work, shared);
  lr_loop<SingleCoreTeam<T>, T>({}, args, n, x);
  progress = shared.progress;
}

}  // namespace
}  // namespace tesela::kernels::iterations::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace tesela::kernels {
namespace iterations {
namespace {

template <class T>
auto best_qr() {
  return TESELA_BEST_TARGET(qr<T>);
}
template <class T>
auto best_lr() {
  return TESELA_BEST_TARGET(lr<T>);
}

}  // namespace
}  // namespace iterations

template <class T>
void QrSteps<T>::cpu(const Args& args, InOut<T> d, InOut<T> p, InOut<IterationProgress> progress, Scratch<T> work) {
  if (progress.data->active < 0) progress.data->active = d.cols;
  if (progress.data->ended()) return;
  iterations::best_qr<T>()(args, d, p, *progress.data, work.data);
}

template <class T>
void LrSteps<T>::cpu(const Args& args, InOut<T> d, InOut<IterationProgress> progress, Scratch<T> work) {
  if (progress.data->active < 0) progress.data->active = d.cols;
  if (progress.data->ended()) return;
  iterations::best_lr<T>()(args, d, *progress.data, work.data);
}

TESELA_STRUCTS_FOR_REALS(QrSteps, LrSteps)

}  // namespace tesela::kernels
#endif
