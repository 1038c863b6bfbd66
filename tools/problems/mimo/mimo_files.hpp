#pragma once

#include "tools/problems/mimo/mimo_problem.hpp"
#include <tesela/tiles/io/arrays.hpp>
#include <tesela/tiles/io/matrix_rows.hpp>

#include <optional>

namespace tesela::cli {

/// The files --h, --y, --sent and --prior, read in blocks of signals.
template <class T>
class MimoFiles {
 public:
  /// Throws ArgumentError for shapes that disagree.
  explicit MimoFiles(const MimoInput& input);

  const MimoShape& shape() const { return shape_; }
  /// Returns the number of signals from `first` on, at most `most`, that are of whole channels, or of one.
  index_t together(index_t first, index_t most) const;
  /// Reads H, y and the sent symbols into data, and sets its shape to that of these signals.
  void read(index_t first, index_t count, MimoData<T>& data) const;

 private:
  void read_channels(index_t first, index_t count, HostMatrix<std::complex<T>>& channels) const;
  void read_sent(index_t first, MimoData<T>& data) const;

  const MimoInput& input_;
  ArrayRows<std::complex<T>> h_, y_;
  std::optional<ArrayRows<int>> sent_;
  MimoShape shape_;
};

/// --prior, signals x bits.
template <class T>
class MimoPriors {
 public:
  /// Throws ArgumentError where it is of another shape.
  MimoPriors(const std::string& path, index_t signals, index_t bits);
  /// bits x count, of signals first ….
  HostMatrix<T> read(index_t first, index_t count) const;

 private:
  MatrixRows<T> rows_;
};

}  // namespace tesela::cli
