#include "tools/problems/mimo/mimo_files.hpp"

#include <tesela/runtime/require.hpp>
#include <tesela/tiles/size_checks.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace tesela::cli {
namespace {

constexpr const char* command = "mimo";

std::string dims_of(const std::vector<index_t>& dims) { return fmt::format("{}", fmt::join(dims, " x ")); }

}  // namespace

template <class Value>
void SignalFile<Value>::turn() {
  const index_t size = dims()[0], signals = dims()[1];
  turned_.emplace(size, signals);
  std::vector<Value> row(static_cast<std::size_t>(signals));
  for (index_t i = 0; i < size; ++i) {
    rows_.read(i, 1, row.data());
    for (index_t k = 0; k < signals; ++k) (*turned_)(i, k) = row[static_cast<std::size_t>(k)];
  }
}

template <class Value>
HostMatrix<Value> SignalFile<Value>::read(index_t first, index_t count) const {
  HostMatrix<Value> made(turned_ ? turned_->rows() : rows_.row_size(), count);
  if (!turned_)
    rows_.read(first, count, made.data());
  else if (made.size() > 0)
    std::copy_n(&(*turned_)(0, first), made.size(), made.data());
  return made;
}

template <class T>
bool MimoFiles<T>::columns_are_signals() const {
  if (input_.layout != "auto") return input_.layout == "antennas-rows";
  const auto& y = y_.dims();
  const bool row = y[1] == shape_.antennas, column = y[0] == shape_.antennas;
  require(!row || !column || shape_.antennas <= 1, command, "--layout",
          fmt::format("{} is {}, and the channels have {} antennas: name signals-rows or antennas-rows", input_.y,
                      dims_of(y), shape_.antennas));
  return column && !row;
}

template <class T>
MimoFiles<T>::MimoFiles(const MimoInput& input) : input_(input), h_(input.h), y_(input.y) {
  std::vector<index_t> y = y_.dims();
  const auto& h = h_.dims();
  require(y.size() == 2, command, "--y",
          fmt::format("{} is {}; signals x Nr, or Nr x signals: y.reshape(1, -1) makes one signal of a vector", input.y,
                      dims_of(y)));
  require(h.size() >= 2 && h.size() <= 3, command, "--h",
          fmt::format("{} is {}; Nr x Nt, or blocks x Nr x Nt", input.h, dims_of(h)));
  const bool one = h.size() == 2;
  require(!one || input.coherence <= 0, command, "--coherence", fmt::format("{} holds one channel", input.h));
  shape_.antennas = h[h.size() - 2];
  antennas_rows_ = columns_are_signals();
  if (antennas_rows_) std::swap(y[0], y[1]);
  shape_ = {h[h.size() - 1], h[h.size() - 2], y[0], one ? 0 : input.coherence >= 0 ? input.coherence : 1};
  require(one || shape_.channels() == h[0], command, "--h",
          fmt::format("{} is {}: {} channels for {} signals of coherence {}", input.h, dims_of(h), h[0], shape_.signals,
                      shape_.coherence));
  require(y[1] == shape_.antennas, command, "--y",
          fmt::format("{} is {}, and the channels have {} antennas", input.y, dims_of(y_.dims()), shape_.antennas));
  if (antennas_rows_) y_.turn();
  if (input.sent.empty()) return;
  sent_.emplace(input.sent);
  std::vector<index_t> wanted{shape_.signals, shape_.streams};
  if (antennas_rows_) std::swap(wanted[0], wanted[1]);
  require(sent_->dims() == wanted, command, "--sent",
          fmt::format("{} is {}, not {}", input.sent, dims_of(sent_->dims()), dims_of(wanted)));
  if (antennas_rows_) sent_->turn();
}

template <class T>
index_t MimoFiles<T>::together(index_t first, index_t most) const {
  const index_t c = shape_.coherence, left = shape_.signals - first;
  if (c == 0) return std::min(most, left);
  return std::min(left, most < c ? std::min(most, c - first % c) : most / c * c);
}

template <class T>
void MimoFiles<T>::read(index_t first, index_t count, MimoData<T>& data) const {
  const index_t c = shape_.coherence;
  const bool part = c > 0 && (first % c != 0 || (count % c != 0 && first + count != shape_.signals));
  data.shape = {shape_.streams, shape_.antennas, count, part ? 0 : c};  // a part of one channel's signals
  data.y = y_.read(first, count);
  read_channels(shape_.channel_of(first), data.shape.channels(), data.channels);
  if (sent_) read_sent(first, data);
}

template <class T>
void MimoFiles<T>::read_channels(index_t first, index_t count, HostMatrix<std::complex<T>>& channels) const {
  const index_t m = shape_.antennas, n = shape_.streams;
  channels = HostMatrix<std::complex<T>>(m, n * count);
  std::vector<std::complex<T>> one(static_cast<std::size_t>(m * n));
  const bool flat = h_.dims().size() == 2;
  for (index_t k = 0; k < count; ++k) {
    h_.read(flat ? 0 : first + k, flat ? m : 1, one.data());
    for (index_t i = 0; i < m; ++i)
      for (index_t j = 0; j < n; ++j) channels(i, k * n + j) = one[static_cast<std::size_t>(i * n + j)];
  }
}

template <class T>
void MimoFiles<T>::read_sent(index_t first, MimoData<T>& data) const {
  const index_t count = data.shape.signals;
  data.sent = sent_->read(first, count);
  for (index_t k = 0; k < count; ++k)
    for (index_t j = 0; j < shape_.streams; ++j)
      require(data.sent(j, k) >= 0 && data.sent(j, k) < data.alphabets[static_cast<std::size_t>(j)].size(), command,
              "--sent", "label ", data.sent(j, k), " at [", first + k, ", ", j, "] (from zero) is out of range");
}

template <class T>
MimoPriors<T>::MimoPriors(const std::string& path, index_t signals, index_t bits, bool antennas_rows)
    : rows_(path), antennas_rows_(antennas_rows) {
  const Shape wanted = antennas_rows ? Shape{bits, signals} : Shape{signals, bits};
  require(rows_.m() == wanted.rows && rows_.n() == wanted.cols, command, "--prior",
          fmt::format("{} is {} x {}, not {}", path, rows_.m(), rows_.n(), to_string(wanted)));
}

template <class T>
HostMatrix<T> MimoPriors<T>::read(index_t first, index_t count) const {
  if (antennas_rows_) {  // read as a whole, as y is
    HostMatrix<T> all(rows_.m(), count);
    rows_.read(first, Block<T>{all.data(), all.rows(), count, all.ld()});
    return all;
  }
  HostMatrix<T> turned(count, rows_.n()), priors(rows_.n(), count);
  rows_.read(first, Block<T>{turned.data(), count, rows_.n(), turned.ld()});
  for (index_t k = 0; k < count; ++k)
    for (index_t b = 0; b < rows_.n(); ++b) priors(b, k) = turned(k, b);
  return priors;
}

template class SignalFile<int>;
TESELA_CLASSES_FOR_REALS(MimoFiles, MimoPriors)
template class SignalFile<std::complex<float>>;
template class SignalFile<std::complex<double>>;

}  // namespace tesela::cli
