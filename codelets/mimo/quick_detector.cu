#include <tesela/codelets/mimo/internal/nway_tree_body.hpp>
#include <tesela/codelets/mimo/internal/quick_launches.hpp>
#include <tesela/codelets/mimo/quick_detector.hpp>

#include <cuda_runtime_api.h>

namespace tesela::kernels {
namespace mimo {
namespace {

constexpr int detect_threads = 128;
/// Signals of a block, whose streams are more than half of S.
template <int S>
inline constexpr int most_signals = S == 4 ? detect_threads : detect_threads / (S / 2 + 1);

/// As many threads as it has streams go through a signal: each makes a tree, and the trees of the streams that noise
/// hurts most are gone through by all of them, one after the other.
template <int S, class T>
__global__ void __launch_bounds__(detect_threads) nway_detect(HardBatch<T> all, int together) {
  __shared__ __align__(16) unsigned char room[most_signals<S> * sizeof(NwayTree<T, S>)];
  __shared__ T pivots[detect_threads], distances[detect_threads];
  const int n = all.lists.n, own = static_cast<int>(threadIdx.x), j = own % n, signal = own / n;
  const index_t k = static_cast<index_t>(blockIdx.x) * together + signal, at = k < all.signals ? k : 0;
  ChannelView<T> view = all.view;
  view.h += at / all.coherence * view.streams * view.ld;
  const Complex<T>* const y = all.y + at * all.ld_y;
  auto& chosen = reinterpret_cast<NwayTree<T, S>*>(room)[signal];
  NwayTree<T, S> tree;
  tree.prepare(view, y, all.lists, j);
  // The smaller, the more noise hurts the stream: 1 / ((H^H H)^-1)(j, j).
  const T step = static_cast<T>(all.lists.axis(j, false).step), pivot = tree.weight[S - 1] / (step * step);
  pivots[own] = pivot;
  __syncthreads();
  int rank = 0;
  for (int t = 0; t < n; ++t) {
    const T other = pivots[own - j + t];
    rank += other < pivot || (other == pivot && t < j) ? 1 : 0;
  }
  T least = endless<T>;
  int path[2 * S] = {};  // cells by places
  long long nodes = 0;
  for (int t = 0; t < all.keep; ++t) {
    __syncthreads();
    if (rank == t) chosen = tree;
    __syncthreads();
    const NwayTree<T, S> present = chosen;
    nodes += static_cast<long long>(n) * present.amplitudes() * present.amplitudes();
    present.run(
        [&](T distance, const int* cells) {
          if (!(distance < least)) return;
          least = distance;
          TESELA_FLAT
          for (int c = 2 * present.begin(); c < 2 * S; ++c) path[c] = cells[c];
        },
        j, n);
  }
  distances[own] = least;
  __syncthreads();
  int winner = 0;
  for (int t = 1; t < n; ++t)
    if (distances[own - j + t] < distances[own - j + winner]) winner = t;
  if (k >= all.signals || j != winner) return;
  int* const labels = all.labels + k * all.ld_labels;
  SearchReport report;
  report.nodes = nodes;
  if (!(least < endless<T>)) {  // distances are no numbers
    report.flags = SearchReport::failed;
    for (int i = 0; i < n; ++i) labels[i] = -1;
  } else {
    const auto& lists = all.lists;
    const SearchPoint* const amplitudes = lists.points + lists.columns[n].first;
    Complex<double> s[S];
    for (int i = 0; i < n; ++i) {
      // Which stream a place has follows from its cells.
      const SearchColumn &re = lists.axis(i, false), &im = lists.axis(i, true);
      const int first = re.first - lists.columns[n].first;
      labels[i] = 0, s[i] = {0, 0};
      for (int c = 0; c < S; ++c) {
        if (c < S - n) continue;
        const int of_re = path[2 * c] - first, of_im = path[2 * c + 1] - first - re.count;
        if (of_re < 0 || of_re >= re.count) continue;
        labels[i] = amplitudes[path[2 * c]].label | amplitudes[path[2 * c + 1]].label;
        s[i] = {re.low + of_re * re.step, im.low + of_im * im.step};
      }
    }
    const int exponent = Exact<T>(view).exponent;
    report.distance = std::ldexp(distance_of(view, y, Scale<double>(exponent), s), exponent);
  }
  all.reports[k * all.ld_reports] = report;
}

template <int S, class T>
void launch(const HardBatch<T>& all, CUstream_st* stream) {
  const index_t n = all.lists.n, together = detect_threads / n;
  nway_detect<S>
      <<<static_cast<unsigned>(ceil_div(all.signals, together)), static_cast<unsigned>(together * n), 0, stream>>>(
          all, static_cast<int>(together));
}

}  // namespace
}  // namespace mimo

template <class T>
void QuickDetector<T>::cuda(CudaContext& context, const Args& args, In<std::complex<T>> h, In<std::complex<T>> y,
                            In<SearchColumn> columns, In<SearchPoint> points, Out<int> labels,
                            Out<SearchReport> reports) {
  if (y.cols == 0) return;
  const auto n = static_cast<int>(args.streams);
  const bool nway = args.kind == DetectorKind::nway;
  const mimo::HardBatch<T> all{
      {h.rows, args.streams, reinterpret_cast<const mimo::Complex<T>*>(h.data), h.ld, columns.data, points.data},
      reinterpret_cast<const mimo::Complex<T>*>(y.data),
      y.ld,
      y.cols,
      args.coherence,
      labels.data,
      labels.ld,
      reports.data,
      reports.ld,
      {n, columns.data, points.data, columns.cols > args.streams},
      args.kind,
      args.order,
      args.up,
      nway && (args.keep == 0 || args.keep > n) ? n : static_cast<int>(args.keep),
      args.n0};
  if (args.kind == DetectorKind::kbest)
    mimo::launch_kbest(all, context.stream());
  else if (!nway)
    mimo::launch_linear(all, context.stream());
  else if (n <= 4)
    mimo::launch<4>(all, context.stream());
  else if (n <= 8)
    mimo::launch<8>(all, context.stream());
  else
    mimo::launch<16>(all, context.stream());
  context.check(static_cast<int>(cudaGetLastError()), "the launch of quick_detector");
}

template decltype(QuickDetector<float>::cuda) QuickDetector<float>::cuda;
template decltype(QuickDetector<double>::cuda) QuickDetector<double>::cuda;

}  // namespace tesela::kernels
