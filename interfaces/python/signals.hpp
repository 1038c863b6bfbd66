#pragma once

#include "interfaces/python/results.hpp"
#include <tesela/algorithms/mimo/mimo_channel.hpp>

#include <complex>
#include <string>
#include <vector>

namespace tesela::python {

/// y = H s + v from Python: H (antennas, streams), or (channels, antennas, streams) where each channel carries the same
/// number of consecutive signals; y (antennas,) or (antennas, signals). NumPy's arrays, or anything that numpy.asarray
/// accepts. With the layout "signals-rows" y and the results have a row per signal; "auto" selects the layout that
/// fits. Throws TypeError for other types than numbers, and ValueError for shapes that do not fit and for a square y
/// without a layout.
class Signals {
 public:
  Signals(nb::handle h, nb::handle y, const std::string& layout);

  const MimoShape& shape() const { return shape_; }
  /// Whether both are complex64 or real numbers of at most that precision.
  bool single() const { return single_; }
  bool one_signal() const { return one_signal_; }
  bool signals_rows() const { return signals_rows_; }
  /// Throws ValueError with the index of the first element of h or y that is not finite.
  void require_finite() const;
  template <class T>
  HostMatrix<std::complex<T>> h() const;
  template <class T>
  HostMatrix<std::complex<T>> y() const;

 private:
  MimoShape shape_;
  nb::object h_, y_;
  bool single_ = false, one_signal_ = false, signals_rows_ = false;
};

/// Calls f with float or double. An ArgumentError for an element that is not finite becomes a ValueError with NumPy's
/// index.
template <class F>
auto in_precision_of(const Signals& signals, F f) {
  try {
    return signals.single() ? f(float()) : f(double());
  } catch (const ArgumentError&) {
    signals.require_finite();
    throw;
  }
}

/// Returns constellations for a name ("16qam"), a sequence of complex points in the order of their labels, or a list of
/// one of these per stream. Throws ValueError.
std::vector<Constellation> constellations_of(nb::handle given, index_t streams);

/// Returns the names of choices, for a message.
template <class E>
std::string names_of(std::span<const Named<E>> all) {
  std::string names;
  for (const Named<E>& one : all) names += (names.empty() ? "" : ", ") + std::string(one.name);
  return names;
}

/// Returns the choice with this name, also for NAME:K. Throws ValueError.
template <class E>
E choice(const char* argument, std::span<const Named<E>> all, const std::string& given) {
  const auto found = find_named(all, given.substr(0, given.find(':')));
  if (!found) throw nb::value_error((std::string(argument) + " must be one of: " + names_of(all)).c_str());
  return *found;
}

/// Returns columns as an array in the layout of y; a vector for one signal.
template <class T>
nb::object of_signals(const Signals& signals, HostMatrix<T> columns) {
  nb::object array = NewMatrix<T>(std::move(columns), {}).to_python(signals.one_signal());
  return signals.signals_rows() ? nb::object(array.attr("T")) : array;
}

}  // namespace tesela::python
