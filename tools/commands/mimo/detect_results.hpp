#pragma once

#include "tools/checks/mimo/mimo_error.hpp"
#include "tools/problems/mimo/mimo_problem.hpp"
#include <tesela/algorithms/mimo/mimo_soft.hpp>
#include <tesela/tiles/io/arrays.hpp>

#include <optional>
#include <string>

namespace tesela::cli {

/// Options for the results of `mimo detect`: checks, likelihoods and files.
struct ResultChoice {
  bool check = true, single = false;
  bool soft = false;
  SoftOptions soft_options;     ///< without n0
  std::optional<double> scale;  ///< of likelihoods as int8
  std::string out_s, out_points, out_llr;
};

/// Checks detections of one problem, finds likelihoods of their bits and writes both, block by block.
template <class T>
class DetectResults {
 public:
  DetectResults(const ResultChoice& choice, const MimoOptions& options, Runtime& runtime, const MimoSource<T>& source,
                Report& report);
  /// Adds the next signals and their detections.
  void take(const MimoData<T>& data, const Detection& found);
  /// Completes the report, and publishes the files if all checks passed.
  void finish();

 private:
  void compare(const MimoData<T>& data, const Detection& found);
  void find_bits(const MimoData<T>& data);
  void write(const MimoData<T>& data, const Detection& found);
  void show_labels(const HostMatrix<int>& labels);
  void tell_errors();
  void tell_bits();
  bool brute() const;

  ResultChoice choice_;
  MimoOptions options_;
  Runtime& runtime_;
  const MimoSource<T>& source_;
  Report& report_;
  NodeCounts nodes_;
  index_t signals_ = 0, uncertified_ = 0, ties_ = 0, failed_ = 0, first_failed_ = 0;
  std::optional<MimoError> error_;
  std::optional<MimoMistakes> mistakes_;
  double soft_seconds_ = 0, soft_nodes_ = 0;
  std::optional<double> llr_gap_;
  double channel_size_ = 0;  ///< the root of the sum of |h|^2, of channel_entries_ numbers
  index_t channel_entries_ = 0;
  index_t saturated_ = 0, soft_failed_ = 0;
  std::optional<ArrayWriter<int>> labels_;
  std::optional<ArrayWriter<std::complex<T>>> points_;
  std::optional<ArrayWriter<T>> llrs_;
  std::optional<ArrayWriter<std::int8_t>> bytes_;
};

}  // namespace tesela::cli
