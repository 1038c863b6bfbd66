// Not in C: its interface has no batches of complex numbers yet.
#ifdef TESELA_PYTHON
#include "interfaces/python/signals.hpp"
#include <tesela/algorithms/mimo/mimo_detect.hpp>

#include <complex>
#include <limits>
#include <nanobind/stl/complex.h>
#include <optional>

namespace tesela::python {
namespace {

struct DetectionResult {
  AnyArray points, bits, labels, distances, nodes;
  index_t uncertified = 0, ties = 0, failed = 0;
};

/// Returns the points of the labels, complex in the precision T; NaN for a signal without an answer.
template <class T>
nb::object points_of(const Signals& signals, const std::vector<Constellation>& alphabets,
                     const HostMatrix<int>& labels) {
  HostMatrix<T> re(labels.rows(), labels.cols()), im(labels.rows(), labels.cols());
  for (index_t k = 0; k < labels.cols(); ++k)
    for (index_t j = 0; j < labels.rows(); ++j) {
      const Constellation& c = alphabets[static_cast<std::size_t>(j)];
      std::complex<double> point = std::numeric_limits<double>::quiet_NaN();
      if (labels(j, k) >= 0) point = c.points[static_cast<std::size_t>(labels(j, k))];
      if (c.alternating && k % 2 == 1) point *= std::complex<double>(0, 1);
      re(j, k) = static_cast<T>(point.real());
      im(j, k) = static_cast<T>(point.imag());
    }
  const nb::object turned = of_signals(signals, std::move(im)).attr("__mul__")(std::complex<double>(0, 1));
  return of_signals(signals, std::move(re)).attr("__add__")(turned);
}

/// Returns the bits of the labels by streams, the most significant one first; -1 for a signal without an answer.
nb::object bits_of(const Signals& signals, const std::vector<Constellation>& alphabets, const HostMatrix<int>& labels) {
  index_t all = 0, row = 0;
  for (const Constellation& c : alphabets) all += c.bits();
  HostMatrix<int> bits(all, labels.cols());
  for (index_t j = 0; j < labels.rows(); ++j)
    for (int bit = alphabets[static_cast<std::size_t>(j)].bits() - 1; bit >= 0; --bit, ++row)
      for (index_t k = 0; k < labels.cols(); ++k) bits(row, k) = labels(j, k) < 0 ? -1 : labels(j, k) >> bit & 1;
  return of_signals(signals, std::move(bits));
}

DetectionResult result_of(const Signals& signals, const std::vector<Constellation>& alphabets, Detection found) {
  DetectionResult result;
  result.points = signals.single() ? points_of<float>(signals, alphabets, found.labels)
                                   : points_of<double>(signals, alphabets, found.labels);
  result.bits = bits_of(signals, alphabets, found.labels);
  result.uncertified = found.uncertified();
  result.ties = found.ties();
  result.failed = found.failed();
  std::vector<double> distances;
  std::vector<index_t> nodes;
  for (const SearchReport& report : found.reports) {
    distances.push_back(report.distance);
    nodes.push_back(static_cast<index_t>(report.nodes));
  }
  result.labels = of_signals(signals, std::move(found.labels));
  result.distances = to_python(distances);
  result.nodes = to_python(nodes);
  return result;
}

DetectionResult detect(const ArrayLike& h, const ArrayLike& y, nb::handle constellation, const std::string& method,
                       std::optional<double> n0, const std::string& order, index_t max_nodes,
                       const std::string& layout) {
  const Signals signals(h, y, layout);
  const auto alphabets = constellations_of(constellation, signals.shape().streams);
  MimoOptions options;
  choice("method", mimo_methods(), method);
  parse_mimo_method("mimo_detect", method, options);
  options.order = choice("order", column_orders(), order);
  if (!n0 && weighs_noise(options.method))
    throw ArgumentError("mimo_detect", "n0", "is missing: " + method + " needs the variance of the noise");
  options.n0 = n0.value_or(0);
  options.max_nodes = max_nodes;
  const auto with = [&]<class T>(T) {
    const auto H = signals.h<T>(), Y = signals.y<T>();
    return with_workers([&](const c::Session& session) {
      Graph g(session);
      return mimo_detect(g, signals.shape(), H, Y, alphabets, options);
    });
  };
  DetectionResult result = result_of(signals, alphabets, in_precision_of(signals, with));
  if (result.failed > 0)
    raise_lin_alg_error("mimo_detect: " + std::to_string(result.failed) +
                            " signals have no answer, since columns of their channels are dependent",
                        "dependent columns", nb::cast(result));
  return result;
}

const Part part([](nb::module_& m) {
  ResultClass<DetectionResult>(m, "DetectionResult", "Result of `mimo_detect`.")
      .member("points", &DetectionResult::points,
              "Detected s, complex: (streams, signals) or (signals, streams) as y, for one signal (streams,).")
      .member("bits", &DetectionResult::bits,
              "(bits, signals) or (signals, bits), for one signal (bits,): 0 and 1 by streams, a label's most "
              "significant bit first, in the order of mimo_soft's `llrs`.")
      .member("labels", &DetectionResult::labels,
              "(streams, signals) or (signals, streams) as y, for one signal (streams,): index of each point in its "
              "constellation.")
      .member("distances", &DetectionResult::distances, "||y - H s|| of each signal.")
      .member("nodes", &DetectionResult::nodes, "Tree nodes that the search of each signal visited.")
      .member("uncertified", &DetectionResult::uncertified,
              "Signals whose search stopped at `max_nodes`, with the best vector found.")
      .member("ties", &DetectionResult::ties, "Signals with a second vector at the same distance up to rounding.")
      .member("failed", &DetectionResult::failed,
              "Signals without an answer, whose labels and bits are -1 and whose points are NaN.")
      .prints({"labels", "uncertified", "ties", "failed"});
  m.def("mimo_detect", detect, "h"_a, "y"_a, "constellation"_a, nb::kw_only(), "method"_a = "sd", "n0"_a = nb::none(),
        "order"_a = "mmse-vblast", "max_nodes"_a = 0, "layout"_a = "auto",
        R"(Detect the vectors s that several streams sent, from the antennas' y = h s + noise.

Parameters
----------
h : (antennas, streams) or (channels, antennas, streams) array
    Complex. With several channels, each carries the same number of consecutive signals.
y : (antennas,), (antennas, signals) or (signals, antennas) array
constellation : str, array, or list of one for each stream
    'bpsk', 'pi/2-bpsk', 'qpsk', '8psk', '16qam', '64qam', '256qam' or '1024qam', of unit energy as in 3GPP (bpsk is
    +-(1 + 1j) / sqrt(2), pi/2-bpsk 1j times that for signals 1, 3, 5, ...); or complex points in the order of their
    labels.
method : str
    'sd' finds s of least ||y - h s|| (maximum likelihood) by a sphere search. Other methods are not exact: 'zf',
    'mmse', 'mmse-sic', 'babai', 'kbest:16', 'nway', 'ep' and more; an error message lists them.
n0 : float, optional
    Variance of the noise: 'mmse', 'mmse-sic' and 'ep' need it, the orders of 'mmse' use it.
order : str
    Order in which the search decides the streams.
max_nodes : int
    Number of nodes after which the search of a signal ends uncertified; 0: no limit.
layout : str
    'antennas-rows' or 'signals-rows': rows of y and of the results; 'auto' is the one that fits. A square y needs one.

Returns
-------
DetectionResult

Raises
------
numpy.linalg.LinAlgError
    If a method needs independent columns and h has dependent ones; its attribute `result` has the other labels.

Examples
--------
>>> import numpy as np, tesela
>>> h = np.array([[1, 0.5j], [0.2, 1]])
>>> sent = np.array([1 - 1j, -1 - 1j]) / np.sqrt(2)
>>> found = tesela.mimo_detect(h, h @ sent, "qpsk")
>>> found.points.round(3), found.labels, found.bits
(array([ 0.707-0.707j, -0.707-0.707j]), array([1, 3], dtype=int32), array([0, 1, 1, 1], dtype=int32))
)");
});

}  // namespace
}  // namespace tesela::python
#endif
