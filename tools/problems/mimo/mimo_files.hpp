#pragma once

#include "tools/problems/mimo/mimo_problem.hpp"
#include <tesela/tiles/io/arrays.hpp>
#include <tesela/tiles/io/matrix_rows.hpp>

#include <optional>

namespace tesela::cli {

/// A file with some numbers per signal, read in blocks of signals.
template <class Value>
class SignalFile {
 public:
  explicit SignalFile(const std::string& path) : rows_(path) {}
  const std::vector<index_t>& dims() const { return rows_.dims(); }
  /// Makes columns the signals. Reads the whole file, which has two dimensions.
  void turn();
  /// Returns the numbers of these signals, a column each.
  HostMatrix<Value> read(index_t first, index_t count) const;

 private:
  ArrayRows<Value> rows_;
  std::optional<HostMatrix<Value>> turned_;  ///< all signals, a column each
};

/// The files --h, --y and --sent, read in blocks of signals.
template <class T>
class MimoFiles {
 public:
  /// Throws ArgumentError for shapes that disagree.
  explicit MimoFiles(const MimoInput& input);

  const MimoShape& shape() const { return shape_; }
  bool antennas_rows() const { return antennas_rows_; }
  /// Returns the number of signals from `first` on, at most `most`, that are of whole channels, or of one.
  index_t together(index_t first, index_t most) const;
  /// Reads H, y and the sent symbols into data, and sets its shape to that of these signals.
  void read(index_t first, index_t count, MimoData<T>& data) const;

 private:
  bool columns_are_signals() const;
  void read_channels(index_t first, index_t count, HostMatrix<std::complex<T>>& channels) const;
  void read_sent(index_t first, MimoData<T>& data) const;

  const MimoInput& input_;
  ArrayRows<std::complex<T>> h_;
  SignalFile<std::complex<T>> y_;
  std::optional<SignalFile<int>> sent_;
  MimoShape shape_;
  bool antennas_rows_ = false;
};

/// --prior, signals x bits, or bits x signals.
template <class T>
class MimoPriors {
 public:
  /// Throws ArgumentError for another shape.
  MimoPriors(const std::string& path, index_t signals, index_t bits, bool antennas_rows);
  /// bits x count, of signals first ….
  HostMatrix<T> read(index_t first, index_t count) const;

 private:
  MatrixRows<T> rows_;
  bool antennas_rows_;
};

}  // namespace tesela::cli
