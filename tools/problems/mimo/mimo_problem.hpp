#pragma once

#include "tools/app/report.hpp"
#include <tesela/algorithms/mimo/mimo_channel.hpp>
#include <tesela/algorithms/mimo/mimo_detect.hpp>

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tesela::cli {

/// H and y of --h and --y, or generated ones.
struct MimoInput {
  std::string h, y, sent, noise_cov, prior;
  index_t streams = 4, antennas = 0, signals = 10000;
  index_t coherence = -1;  ///< -1: as the files have it, else a channel each
  std::string constellation = "16qam", channel = "rayleigh", layout = "auto";
  double ebn0 = 10;
  std::optional<double> n0;

  void add_to(App& app);
};

template <class T>
struct MimoData {
  MimoShape shape;
  std::vector<Constellation> alphabets;
  HostMatrix<std::complex<T>> channels, y;
  HostMatrix<int> sent;  ///< without columns where it is not known
  HostMatrix<T> priors;  ///< the same; bits x signals
  double n0 = 0;
  bool integers = false;  ///< the alphabet is all Gaussian integers; `alphabets` describe only the sent symbols
  index_t first = 0;      ///< number of the first signal
  bool turned = false;    ///< signals of odd number were divided by i, so that pi/2-bpsk became bpsk

  /// Returns the point that stream j sent with signal k if it has this label.
  std::complex<double> point(index_t j, index_t k, int label) const {
    const auto p = alphabets[static_cast<std::size_t>(j)].points[static_cast<std::size_t>(label)];
    return turned && (first + k) % 2 != 0 ? std::complex<double>(-p.imag(), p.real()) : p;
  }
};

template <class T>
class MimoFiles;
template <class T>
class MimoPriors;

/// The source of signals: --h, --y and their companions, or a generator.
template <class T>
class MimoSource {
 public:
  /// Throws ArgumentError and FileError.
  MimoSource(const MimoInput& input, std::uint64_t seed);
  ~MimoSource();

  const MimoShape& shape() const { return shape_; }
  const std::vector<Constellation>& alphabets() const { return alphabets_; }
  double n0() const { return n0_; }
  bool integers() const { return integers_; }
  /// Whether files have a column per signal.
  bool antennas_rows() const { return antennas_rows_; }
  nlohmann::json problem() const;

  /// Returns the number of signals from `first` on, at most `most`, that can be processed together; all if generated.
  index_t together(index_t first, index_t most) const;
  /// Returns the bytes of channels, signals and labels of at most `most` signals; 0: all.
  double bytes(index_t most) const;
  /// Reads or generates them. Throws ArgumentError and FileError.
  MimoData<T> signals(index_t first, index_t count) const;
  MimoData<T> all() const { return signals(0, shape_.signals); }

 private:
  void generate(MimoData<T>& data) const;

  MimoInput input_;
  std::uint64_t seed_;
  std::unique_ptr<MimoFiles<T>> files_;
  std::unique_ptr<MimoPriors<T>> priors_;
  MimoShape shape_;
  std::vector<Constellation> alphabets_;
  HostMatrix<std::complex<double>> covariance_;
  double n0_ = 0;
  bool integers_ = false, antennas_rows_ = false, turned_ = false;
};

/// Returns the dimensions in a file of `size` numbers per signal.
template <class T>
std::vector<index_t> file_dims(const MimoSource<T>& source, index_t size) {
  const index_t signals = source.shape().signals;
  return source.antennas_rows() ? std::vector<index_t>{size, signals} : std::vector<index_t>{signals, size};
}

/// Writes a column per signal. With a row per antenna these are all signals.
template <class Writer, class Value>
void write_signals(Writer& file, const HostMatrix<Value>& columns, bool antennas_rows) {
  if (!antennas_rows) return file.write(columns.data(), columns.size());
  HostMatrix<Value> rows(columns.cols(), columns.rows());
  for (index_t k = 0; k < columns.cols(); ++k)
    for (index_t i = 0; i < columns.rows(); ++i) rows(k, i) = columns(i, k);
  file.write(rows.data(), rows.size());
}

/// Parses the names of an order and of a direction ("up", "down") into options of a search.
void take_order(const std::string& order, const std::string& direction, MimoOptions& options);
std::string order_names();

/// nodes_mean, _median, _p99 and _max, of signals as they come, and how many had 1, 2 to 3, 4 to 7, … of them.
class NodeCounts {
 public:
  void add(const std::vector<SearchReport>& reports);
  void print_error(Report& report) const;

 private:
  std::map<long long, index_t> counts_;
  index_t signals_ = 0;
  double sum_ = 0;
};
void report_nodes(const std::vector<SearchReport>& reports, Report& report);

/// Options of mimo detect that ask for points in spheres, or for the closest lattice vectors.
struct ListChoice {
  double within = 0;
  index_t most = 1000;
  std::string out_within, out_points;
};

/// Runs mimo_list instead of a detector: reports how many points there are, and writes them.
template <class T>
int run_lists(const CommonOptions& common, const ListChoice& choice, const MimoOptions& search,
              const MimoSource<T>& source, Report& report);

}  // namespace tesela::cli
