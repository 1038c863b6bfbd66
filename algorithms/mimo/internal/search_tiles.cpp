#include <tesela/algorithms/mimo/internal/search_tiles.hpp>
#include <tesela/host/all_finite.hpp>
#include <tesela/tiles/parallel_for.hpp>
#include <tesela/tiles/size_checks.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <sstream>

namespace tesela::mimo {

void refuse(const std::string& argument, const std::string& why) { throw ArgumentError("mimo", argument, why); }

void require_fixed_order(ColumnOrder order, const std::string& who) {
  if (!row_of(order).of_signals) return;
  std::string accepted;
  for (const auto& one : kernels::column_order_rows)
    if (!one.of_signals) accepted += (accepted.empty() ? " " : ", ") + std::string(one.name);
  refuse("order", std::string(row_of(order).name) +
                      " differs from signal to signal, and is for the hard decisions of sd, sd-plain and babai; " +
                      who + accepted);
}

NumberedName split_number(const std::string& text) {
  const auto colon = text.find(':');
  NumberedName made{text.substr(0, colon), colon != std::string::npos, {}};
  const std::string number = made.colon ? text.substr(colon + 1) : "";
  if (!number.empty() && number.size() < 10 && number.find_first_not_of("0123456789") == std::string::npos)
    made.number = std::stol(number);
  return made;
}

template <class T>
void require_finite(const char* argument, const HostMatrix<std::complex<T>>& a, index_t first, index_t count) {
  const T* const numbers = reinterpret_cast<const T*>(a.data() + first * a.rows());
  constexpr index_t part = 1 << 21;
  std::atomic<bool> finite = true;
  parallel_for(2 * count * a.rows(), part, [&](index_t begin, index_t end) {
    if (!kernels::all_finite(numbers + begin, end - begin)) finite = false;
  });
  if (finite) return;
  for (index_t j = first; j < first + count; ++j)
    for (index_t i = 0; i < a.rows(); ++i)
      if (!std::isfinite(a(i, j).real()) || !std::isfinite(a(i, j).imag()))
        refuse(argument,
               "the value at [" + std::to_string(i) + ", " + std::to_string(j) + "] (from zero) is not finite");
}

template <class T>
void check_shapes(const MimoShape& shape, const HostMatrix<std::complex<T>>& channels,
                  const HostMatrix<std::complex<T>>& y, const std::vector<Constellation>& alphabets) {
  if (shape.streams < 1 || shape.streams > 32) refuse("streams", std::to_string(shape.streams) + "; 1 to 32");
  if (shape.antennas < 1 || shape.antennas > 128) refuse("antennas", std::to_string(shape.antennas) + "; 1 to 128");
  if (shape.coherence < 0) refuse("coherence", std::to_string(shape.coherence) + " is negative");
  const Shape h{shape.antennas, shape.streams * shape.channels()}, received{shape.antennas, shape.signals};
  if (channels.shape() != h) refuse("channels", to_string(channels.shape()) + ", not " + to_string(h));
  if (y.shape() != received) refuse("y", to_string(y.shape()) + ", not " + to_string(received));
  if (static_cast<index_t>(alphabets.size()) != shape.streams)
    refuse("alphabets", std::to_string(alphabets.size()) + " for " + std::to_string(shape.streams) + " streams");
  // H and y are scaled by powers of two, but points are not, and their squares must not overflow.
  constexpr double most = sizeof(T) == 4 ? 1e15 : 1e100;
  for (std::size_t j = 0; j < alphabets.size(); ++j) {
    double largest = 0;
    for (const std::complex<double> p : alphabets[j].points)
      largest = std::max({largest, std::abs(p.real()), std::abs(p.imag())});
    if (largest == 0 && alphabets[j].size() > 1)  // a set of one point means all Gaussian integers
      refuse("alphabets", "all points of stream " + std::to_string(j) + " are 0; points must differ");
    if (largest > most || (largest > 0 && largest < 1 / most)) {
      std::ostringstream why;
      why << "stream " << j << "'s largest point is " << largest << "; " << 1 / most << " to " << most;
      refuse("alphabets", why.str());
    }
  }
}

template <class T>
void check_model(const MimoShape& shape, const HostMatrix<std::complex<T>>& channels,
                 const HostMatrix<std::complex<T>>& y, const std::vector<Constellation>& alphabets) {
  check_shapes(shape, channels, y, alphabets);
  require_finite("channels", channels, 0, channels.cols());
  require_finite("y", y, 0, y.cols());
}

index_t fit_batch(index_t wanted, const MimoShape& shape) {
  const index_t c = shape.coherence;
  if (c == 0) return wanted;
  if (c <= wanted) return wanted / c * c;
  for (index_t parts = ceil_div(c, wanted); parts <= 4 * ceil_div(c, wanted); ++parts)
    if (c % parts == 0) return c / parts;
  return c;
}

index_t batch_on_cores(const MimoShape& shape) { return fit_batch(512, shape); }

template <class T>
SearchTiles<T>::SearchTiles(Runtime& runtime, const MimoShape& of, const HostMatrix<std::complex<T>>& channels,
                            const HostMatrix<std::complex<T>>& received, const SearchLists& lists, index_t wanted)
    : shape(of),
      batch(wanted > 0 ? fit_batch(wanted, of) : suitable_mimo_batch(runtime, of)),
      together(of.coherence == 0 ? 1 : std::max<index_t>(1, batch / of.coherence)),
      coherence(of.coherence == 0 ? batch : std::min(of.coherence, batch)),
      h(TileMatrix<std::complex<T>>::map(runtime, channels.data(), of.antennas, channels.cols(), of.antennas,
                                         {of.antennas, of.streams * together}, "H")),
      y(TileMatrix<std::complex<T>>::map(runtime, received.data(), of.antennas, of.signals, of.antennas,
                                         {of.antennas, batch}, "Y")),
      columns(runtime, 1, lists.columns.cols(), {1, lists.columns.cols()}, "columns"),
      points(runtime, 1, lists.points.cols(), {1, lists.points.cols()}, "points") {
  // Copied, because page-locking takes longer than a short search.
  columns.copy_from(lists.columns.data(), 1);
  points.copy_from(lists.points.data(), 1);
}

template void check_shapes(const MimoShape&, const HostMatrix<std::complex<float>>&,
                           const HostMatrix<std::complex<float>>&, const std::vector<Constellation>&);
template void require_finite(const char*, const HostMatrix<std::complex<float>>&, index_t, index_t);
template void check_model(const MimoShape&, const HostMatrix<std::complex<float>>&,
                          const HostMatrix<std::complex<float>>&, const std::vector<Constellation>&);
template struct SearchTiles<float>;
template void check_shapes(const MimoShape&, const HostMatrix<std::complex<double>>&,
                           const HostMatrix<std::complex<double>>&, const std::vector<Constellation>&);
template void require_finite(const char*, const HostMatrix<std::complex<double>>&, index_t, index_t);
template void check_model(const MimoShape&, const HostMatrix<std::complex<double>>&,
                          const HostMatrix<std::complex<double>>&, const std::vector<Constellation>&);
template struct SearchTiles<double>;

}  // namespace tesela::mimo
