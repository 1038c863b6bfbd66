#pragma once

#include <tesela/codelets/mimo/detector.hpp>
#include <tesela/codelets/mimo/internal/finite_batch.hpp>
#include <tesela/codelets/mimo/internal/linear_bits_body.hpp>
#include <tesela/codelets/mimo/internal/tree_body.hpp>

// Internal to codelets/mimo.

namespace tesela::kernels::mimo {

/// Data that the signals of a call of GpuDetector share.
template <class T>
struct DetectionBatch {
  ChannelView<T> view;  ///< of the first channel
  const Complex<T>* y;
  index_t ld_y, signals, coherence;
  int* labels;
  index_t ld_labels;
  SearchReport* reports;
  index_t ld_reports;
  BitLists lists;
  MimoMethod kind;
  ColumnOrder order;
  bool up;
  int keep;
  double n0;

  TESELA_INLINE bool refused() const { return batch_not_finite(reports); }
  TESELA_INLINE ChannelView<T> channel(index_t k) const {
    ChannelView<T> one = view;
    one.h += k / coherence * view.streams * view.ld;
    return one;
  }
  TESELA_INLINE void fail(index_t k) const {
    for (int j = 0; j < lists.n; ++j) labels[k * ld_labels + j] = -1;
    SearchReport report;
    report.flags = SearchReport::failed;
    reports[k * ld_reports] = report;
  }
};

}  // namespace tesela::kernels::mimo
