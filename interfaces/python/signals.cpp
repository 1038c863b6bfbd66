#include "interfaces/python/signals.hpp"

#include <nanobind/stl/complex.h>
#include <nanobind/stl/vector.h>

namespace tesela::python {
namespace {

nb::object numpy(const char* name) { return nb::module_::import_("numpy").attr(name); }

/// Returns NumPy's array of the numbers; `single` stays true if they fit complex64.
nb::object numbers_of(const char* name, nb::handle given, bool& single) {
  require_unmasked(name, given);
  const nb::object array = numpy("asarray")(given);
  const std::string kind = nb::cast<std::string>(array.attr("dtype").attr("kind"));
  if (kind.find_first_of("cfiub") == std::string::npos)
    throw nb::type_error((std::string(name) + " must be of complex or real numbers").c_str());
  const auto bytes = nb::cast<std::size_t>(array.attr("dtype").attr("itemsize"));
  single = single && (kind == "c" ? bytes <= sizeof(std::complex<float>) : kind == "f" && bytes <= sizeof(float));
  return array;
}

/// Returns the array's elements in C order.
template <class T>
HostMatrix<std::complex<T>> in_order(const nb::object& array, Shape shape) {
  const nb::object ordered = numpy("ascontiguousarray")(array, sizeof(T) == 4 ? "complex64" : "complex128");
  const auto view = nb::cast<nb::ndarray<const std::complex<T>, nb::c_contig, nb::device::cpu>>(ordered);
  HostMatrix<std::complex<T>> matrix(shape.rows, shape.cols);
  std::copy_n(view.data(), matrix.size(), matrix.data());
  return matrix;
}

std::vector<index_t> shape_of(const nb::object& array) { return nb::cast<std::vector<index_t>>(array.attr("shape")); }

Constellation one_constellation(nb::handle given) {
  if (nb::isinstance<nb::str>(given)) {
    const auto name = nb::cast<std::string>(given);
    const auto kind = find_constellation(name);
    if (!kind)
      throw nb::value_error(
          ("'" + name + "' is not a constellation; use " + names_of(constellation_kinds()) + ", or an array of points")
              .c_str());
    return constellation(*kind);
  }
  bool single = false;
  const nb::object array = numbers_of("constellation", given, single);
  const std::vector<index_t> shape = shape_of(array);
  const index_t count = shape.size() == 1 ? shape[0] : 0;
  if (count < 2 || count > 1024 || (count & (count - 1)) != 0)
    throw nb::value_error("a constellation must have 2, 4, 8, ... 1024 points");
  if (!nb::cast<bool>(numpy("isfinite")(array).attr("all")().attr("__bool__")()))
    throw nb::value_error("a constellation's points must be finite");
  const auto points = in_order<double>(array, {count, 1});
  return {"points", std::vector<std::complex<double>>(points.data(), points.data() + count)};
}

}  // namespace

Signals::Signals(nb::handle h, nb::handle y, const std::string& layout) {
  if (layout != "auto" && layout != "antennas-rows" && layout != "signals-rows")
    throw nb::value_error("layout must be 'auto', 'antennas-rows' or 'signals-rows'");
  single_ = true;
  const nb::object channels = numbers_of("h", h, single_), received = numbers_of("y", y, single_);
  const std::vector<index_t> of_h = shape_of(channels);
  std::vector<index_t> of_y = shape_of(received);
  if (of_h.size() != 2 && of_h.size() != 3)
    throw nb::value_error("h must be (antennas, streams), or (channels, antennas, streams)");
  if (of_y.size() != 1 && of_y.size() != 2)
    throw nb::value_error("y must be (antennas,), (antennas, signals) or (signals, antennas)");
  one_signal_ = of_y.size() == 1;
  shape_.streams = of_h.back();
  shape_.antennas = of_h[of_h.size() - 2];
  if (!one_signal_) {
    const bool fits = of_y[0] == shape_.antennas, turned = of_y[1] == shape_.antennas;
    if (layout == "auto" && fits && turned && shape_.antennas > 1)
      throw nb::value_error(("y is " + std::to_string(of_y[0]) + " x " + std::to_string(of_y[1]) +
                             ", so its signals may be columns or rows; set layout='antennas-rows' or 'signals-rows'")
                                .c_str());
    signals_rows_ = layout == "signals-rows" || (layout == "auto" && turned && !fits);
    if (signals_rows_) std::swap(of_y[0], of_y[1]);
  }
  shape_.signals = one_signal_ ? 1 : of_y[1];
  if (of_y[0] != shape_.antennas)
    throw nb::value_error(("y has " + std::to_string(of_y[0]) + (signals_rows_ ? " columns" : " rows") +
                           ", and h is of " + std::to_string(shape_.antennas) + " antennas")
                              .c_str());
  if (of_h.size() == 3) {
    shape_.coherence = of_h[0] > 0 ? std::max<index_t>(ceil_div(shape_.signals, of_h[0]), 1) : 1;
    if (shape_.channels() != of_h[0])
      throw nb::value_error((std::to_string(shape_.signals) + " signals do not pass " + std::to_string(of_h[0]) +
                             " channels, the same number each")
                                .c_str());
  }
  h_ = channels.attr("swapaxes")(-1, -2);
  y_ = signals_rows_ ? received : nb::object(received.attr("T"));
}

void Signals::require_finite() const {
  const auto require = [](const char* name, const nb::object& array) {
    const nb::object places = numpy("argwhere")(numpy("logical_not")(numpy("isfinite")(array)));
    if (nb::len(places) > 0)
      throw nb::value_error(
          (name + nb::cast<std::string>(nb::str(nb::object(places[0]).attr("tolist")())) + " is not finite").c_str());
  };
  require("h", h_.attr("swapaxes")(-1, -2));
  require("y", signals_rows_ ? y_ : nb::object(y_.attr("T")));
}

template <class T>
HostMatrix<std::complex<T>> Signals::h() const {
  return in_order<T>(h_, {shape_.antennas, shape_.streams * shape_.channels()});
}

template <class T>
HostMatrix<std::complex<T>> Signals::y() const {
  return in_order<T>(y_, {shape_.antennas, shape_.signals});
}

std::vector<Constellation> constellations_of(nb::handle given, index_t streams) {
  const bool several = nb::isinstance<nb::list>(given) && nb::len(given) > 0 &&
                       (nb::isinstance<nb::str>(given[0]) || nb::hasattr(given[0], "__len__"));
  if (!several) return std::vector<Constellation>(static_cast<std::size_t>(streams), one_constellation(given));
  std::vector<Constellation> each;
  for (const nb::handle one : nb::cast<nb::list>(given)) each.push_back(one_constellation(one));
  if (static_cast<index_t>(each.size()) != streams)
    throw nb::value_error(
        ("a list of " + std::to_string(each.size()) + " constellations for " + std::to_string(streams) + " streams")
            .c_str());
  return each;
}

template HostMatrix<std::complex<float>> Signals::h() const;
template HostMatrix<std::complex<double>> Signals::h() const;
template HostMatrix<std::complex<float>> Signals::y() const;
template HostMatrix<std::complex<double>> Signals::y() const;

}  // namespace tesela::python
