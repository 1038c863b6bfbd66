#include "tools/commands/mimo/detect_results.hpp"

#include "tools/app/runs.hpp"
#include <tesela/runtime/shortest.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace tesela::cli {
namespace {

/// Largest numbers of candidates that a reference may look at, for an acceptable waiting time.
constexpr double most_looks = 1.5e9, most_soft_candidates = 1 << 16, most_soft_looks = 1e8;

bool is_exact(MimoMethod method) { return row_of(method).can.exact; }

bool has_failed(const SearchReport& r) { return (r.flags & SearchReport::failed) != 0; }

/// The largest |L - L'| / max(1, |L'|).
template <class T>
double gap_between(const HostMatrix<T>& llrs, const HostMatrix<T>& reference) {
  double gap = 0;
  for (index_t e = 0; e < llrs.size(); ++e) {
    const auto ours = static_cast<double>(llrs.data()[e]), theirs = static_cast<double>(reference.data()[e]);
    const double apart = std::abs(ours - theirs) / std::fmax(1, std::abs(theirs));
    gap = apart <= gap ? gap : apart;
  }
  return gap;
}

template <class Writer>
void commit(std::optional<Writer>& file) {
  if (file) file->commit();
}

}  // namespace

template <class T>
DetectResults<T>::DetectResults(const ResultChoice& choice, const MimoOptions& options, Runtime& runtime,
                                const MimoSource<T>& source, Report& report)
    : choice_(choice), options_(options), runtime_(runtime), source_(source), report_(report) {
  choice_.soft_options.n0 = source.n0();
  if (choice_.soft) check_soft_options(source.alphabets(), choice_.soft_options);
  const index_t streams = source.shape().streams;
  index_t bits = 0;
  for (const Constellation& c : source.alphabets()) bits += c.bits();
  if (!choice.out_s.empty()) labels_.emplace(choice.out_s, file_dims(source, streams));
  if (!choice.out_points.empty()) points_.emplace(choice.out_points, file_dims(source, streams));
  if (choice.out_llr.empty()) return;
  if (choice.scale)
    bytes_.emplace(choice.out_llr, file_dims(source, bits));
  else
    llrs_.emplace(choice.out_llr, file_dims(source, bits));
}

template <class T>
void DetectResults<T>::take(const MimoData<T>& data, const Detection& found) {
  nodes_.add(found.reports);
  uncertified_ += found.uncertified();
  ties_ += found.ties();
  const index_t failed = found.failed();
  if (failed > 0 && failed_ == 0)
    first_failed_ = signals_ + std::distance(found.reports.begin(),
                                             std::find_if(found.reports.begin(), found.reports.end(), has_failed));
  failed_ += failed;
  if (choice_.check && failed_ == 0) compare(data, found);
  if (choice_.soft) find_bits(data);
  if (failed_ == 0) write(data, found);
  signals_ += data.shape.signals;
}

template <class T>
bool DetectResults<T>::brute() const {
  const double all = candidates(source_.alphabets());
  return options_.method != MimoMethod::brute && all <= most_brute_candidates &&
         all * static_cast<double>(source_.shape().signals) <= most_looks;
}

/// Another way to the same answer: brute force while that is affordable, else a second order.
template <class T>
void DetectResults<T>::compare(const MimoData<T>& data, const Detection& found) {
  MimoOptions other = options_;
  other.max_nodes = is_exact(options_.method) ? options_.max_nodes : 0;
  other.method = brute() ? MimoMethod::brute : MimoMethod::sd;
  other.order = options_.order == ColumnOrder::sqrd ? ColumnOrder::mmse_vblast : ColumnOrder::sqrd;
  report_.problem()["reference"] = brute() ? "brute" : other.order == ColumnOrder::sqrd ? "sd sqrd" : "sd mmse-vblast";
  Graph g(runtime_);
  const Detection reference = mimo_detect(g, data.shape, data.channels, data.y, data.alphabets, other);
  const MimoError here = mimo_error(data.shape, data.channels, data.y, data.alphabets, found, reference, data.sent);
  if (!error_) error_.emplace();
  error_->mismatches += here.mismatches;
  update_nan_max(error_->metric_gap, here.metric_gap);
}

/// Computes L of every bit, and compares it with a look at all candidates if that is affordable.
template <class T>
void DetectResults<T>::find_bits(const MimoData<T>& data) {
  const auto find = [&](const SoftOptions& options) {
    Graph g(runtime_);
    return mimo_soft(g, data.shape, data.channels, data.y, data.alphabets, options, data.priors);
  };
  const Stopwatch watch;
  const SoftDetection<T> found = find(choice_.soft_options);
  soft_seconds_ += watch.seconds();
  for (const double n : found.nodes) soft_nodes_ += std::fmax(n, 0);
  soft_failed_ += found.failed();
  const double all = candidates(data.alphabets);
  if (choice_.check && all <= most_soft_candidates &&
      all * static_cast<double>(source_.shape().signals) <= most_soft_looks) {
    SoftOptions options = choice_.soft_options;
    options.kind = SoftKind::max_log;
    options.form = SearchForm::automatic;  // max-log has complex form alone
    const double gap = gap_between(found.llrs, find(options).llrs), before = llr_gap_.value_or(0);
    llr_gap_ = gap <= before ? before : gap;
    for (index_t e = 0; e < data.channels.size(); ++e)
      channel_size_ = std::hypot(channel_size_, static_cast<double>(std::abs(data.channels.data()[e])));
    channel_entries_ += data.channels.size();
  }
  if (llrs_) write_signals(*llrs_, found.llrs, source_.antennas_rows());
  if (!choice_.scale) return;
  const QuantizedLlrs small = quantize_llrs(found.llrs, *choice_.scale);
  saturated_ += small.saturated;
  if (bytes_) write_signals(*bytes_, small.llrs, source_.antennas_rows());
}

template <class T>
void DetectResults<T>::write(const MimoData<T>& data, const Detection& found) {
  if (data.sent.rows() > 0) {
    if (!mistakes_) mistakes_.emplace();
    const MimoMistakes here = mimo_mistakes(found.labels, data.sent);
    mistakes_->vectors += here.vectors, mistakes_->symbols += here.symbols, mistakes_->bits += here.bits;
  }
  if (labels_) write_signals(*labels_, found.labels, source_.antennas_rows());
  show_labels(found.labels);
  if (!points_) return;
  HostMatrix<std::complex<T>> points(data.shape.streams, data.shape.signals);
  for (index_t k = 0; k < points.cols(); ++k)
    for (index_t j = 0; j < points.rows(); ++j) points(j, k) = std::complex<T>(data.point(j, k, found.labels(j, k)));
  write_signals(*points_, points, source_.antennas_rows());
}

/// Adds the labels of all signals to the report; blocks of signals are not added.
template <class T>
void DetectResults<T>::show_labels(const HostMatrix<int>& labels) {
  constexpr index_t most = 1'000'000;
  if (labels.cols() != source_.shape().signals || labels.size() == 0 || labels.size() > most) return;
  const bool by_signals = !source_.antennas_rows();
  HostMatrix<double> shown(by_signals ? labels.cols() : labels.rows(), by_signals ? labels.rows() : labels.cols());
  for (index_t k = 0; k < labels.cols(); ++k)
    for (index_t j = 0; j < labels.rows(); ++j) shown(by_signals ? k : j, by_signals ? j : k) = labels(j, k);
  report_.answer("labels", shown);
}

template <class T>
void DetectResults<T>::finish() {
  nodes_.print_error(report_);
  report_.check("uncertified", static_cast<double>(uncertified_));
  report_.check("ties", static_cast<double>(ties_));
  if (failed_ > 0) {
    report_.check("failed", static_cast<double>(failed_));
    report_.fail(fmt::format("dependent columns: no answer for {}, the first is {}", counted(failed_, "signal"),
                             1 + first_failed_));
  } else {
    tell_errors();
  }
  if (choice_.soft) tell_bits();
  if (report_.good() && mistakes_) {
    report_.check("vector_errors", static_cast<double>(mistakes_->vectors));
    report_.check("symbol_errors", static_cast<double>(mistakes_->symbols));
    report_.check("bit_errors", static_cast<double>(mistakes_->bits));
  }
  if (!report_.good()) return;
  commit(labels_), commit(points_), commit(llrs_), commit(bytes_);
  index_t bits = 0;
  for (const Constellation& c : source_.alphabets()) bits += c.bits();
  const auto wrote = [&](const std::string& path, index_t size, const std::string& type) {
    if (path.empty()) return;
    const std::vector<index_t> dims = file_dims(source_, size);
    report_.wrote(path, fmt::format("{} x {}, {}", dims[0], dims[1], type));
  };
  wrote(choice_.out_s, source_.shape().streams, "int32");
  wrote(choice_.out_points, source_.shape().streams, fmt::format("complex{}", 8 * sizeof(std::complex<T>)));
  wrote(choice_.out_llr, bits, choice_.scale ? "int8" : fmt::format("float{}", 8 * sizeof(T)));
}

template <class T>
void DetectResults<T>::tell_errors() {
  if (!error_) return;
  if (!is_exact(options_.method)) {  // a loss, no mistake
    report_.check("metric_gap", error_->metric_gap);
    report_.check("ml_mismatches", static_cast<double>(error_->mismatches));
    return;
  }
  if (uncertified_ == 0)
    report_.check("metric_gap", Measured{error_->metric_gap, choice_.single ? 1e-6 : 1e-12});
  else
    report_.check("metric_gap", error_->metric_gap);
  report_.check_count("ml_mismatches", static_cast<double>(error_->mismatches), static_cast<double>(uncertified_));
}

template <class T>
void DetectResults<T>::tell_bits() {
  report_.check("soft_seconds", soft_seconds_);
  if (signals_ > 0) report_.check("soft_nodes_mean", soft_nodes_ / static_cast<double>(signals_));
  if (choice_.scale) report_.check("llr_saturated", static_cast<double>(saturated_));
  if (soft_failed_ > 0) {
    report_.check("soft_failed", static_cast<double>(soft_failed_));
    report_.fail("no likelihoods for " + counted(soft_failed_, "signal") +
                 ": columns are dependent, or distances too large");
    return;
  }
  if (!llr_gap_) return;
  // Distances have rounding errors, about 1e-6 in single precision, and are divided by N0, here N0 of channels of
  // variance 1.
  const double size = channel_size_ / std::sqrt(static_cast<double>(channel_entries_)),
               n0 = size > 0 ? source_.n0() / size / size : 1, gap = *llr_gap_ * std::fmin(n0, 1);
  if (exact_max_log(source_.alphabets(), choice_.soft_options))
    report_.check("llr_gap", Measured{gap, choice_.single ? 1e-5 : 1e-9});
  else
    report_.check("llr_gap", gap);
}

TESELA_CLASSES_FOR_REALS(DetectResults)

}  // namespace tesela::cli
