#include <tesela/codelets/iterations/internal/steps.hpp>
#include <tesela/codelets/support/internal/multiversion.hpp>

namespace tesela::kernels {
namespace iterations {
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

TESELA_MULTIVERSION void run(const QrSteps<float>::Args& args, index_t half, const Arrays<float>& x) {
  qr_loop<LoneTeam<float>, float>({}, args, half, x);
}
TESELA_MULTIVERSION void run(const QrSteps<double>::Args& args, index_t half, const Arrays<double>& x) {
  qr_loop<LoneTeam<double>, double>({}, args, half, x);
}
TESELA_MULTIVERSION void run(const LrSteps<float>::Args& args, index_t n, const Arrays<float>& x) {
  lr_loop<LoneTeam<float>, float>({}, args, n, x);
}
TESELA_MULTIVERSION void run(const LrSteps<double>::Args& args, index_t n, const Arrays<double>& x) {
  lr_loop<LoneTeam<double>, double>({}, args, n, x);
}

}  // namespace
}  // namespace iterations

template <class T>
void QrSteps<T>::cpu(const Args& args, InOut<T> d, InOut<T> p, InOut<IterationProgress> progress, Scratch<T> work) {
  const index_t n = d.cols;
  if (progress.data->active < 0) progress.data->active = n;
  if (progress.data->ended()) return;
  const bool band = args.half_width >= 0;
  const index_t half = band ? args.half_width : std::max<index_t>(n - 1, 0);
  iterations::Shared shared{*progress.data};
  iterations::Arrays<T> x = iterations::arrays<T>(d, p, args.vectors, n, half, work.data, shared);
  if (band) x.d = d.data + half, x.stride = d.ld - 1;
  iterations::run(args, half, x);
  *progress.data = shared.progress;
}

template <class T>
void LrSteps<T>::cpu(const Args& args, InOut<T> d, InOut<IterationProgress> progress, Scratch<T> work) {
  const index_t n = d.cols;
  if (progress.data->active < 0) progress.data->active = n;
  if (progress.data->ended()) return;
  iterations::Shared shared{*progress.data};
  iterations::run(args, n,
                  iterations::arrays<T>(d, Block<T>{}, false, n, std::max<index_t>(n - 1, 0), work.data, shared));
  *progress.data = shared.progress;
}

template struct QrSteps<float>;
template struct QrSteps<double>;
template struct LrSteps<float>;
template struct LrSteps<double>;

}  // namespace tesela::kernels
