#include "tools/problems/mimo/mimo_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace tesela::cli {
namespace {

constexpr const char* command = "mimo";

std::string dims_of(const std::vector<index_t>& dims) { return fmt::format("{}", fmt::join(dims, " x ")); }

}  // namespace

template <class T>
MimoFiles<T>::MimoFiles(const MimoInput& input) : input_(input), h_(input.h), y_(input.y) {
  const auto &y = y_.dims(), &h = h_.dims();
  if (y.size() != 2) throw ArgumentError(command, "--y", fmt::format("{} is {}; signals x Nr", input.y, dims_of(y)));
  if (h.size() < 2 || h.size() > 3)
    throw ArgumentError(command, "--h", fmt::format("{} is {}; Nr x Nt, or blocks x Nr x Nt", input.h, dims_of(h)));
  const bool one = h.size() == 2;
  if (one && input.coherence > 0)
    throw ArgumentError(command, "--coherence", fmt::format("{} holds one channel", input.h));
  shape_ = {h[h.size() - 1], h[h.size() - 2], y[0], one ? 0 : input.coherence >= 0 ? input.coherence : 1};
  if (!one && shape_.channels() != h[0])
    throw ArgumentError(command, "--h",
                        fmt::format("{} is {}: {} channels for {} signals of coherence {}", input.h, dims_of(h), h[0],
                                    shape_.signals, shape_.coherence));
  if (y[1] != shape_.antennas)
    throw ArgumentError(
        command, "--y",
        fmt::format("{} is {}, and the channels have {} antennas", input.y, dims_of(y), shape_.antennas));
  if (input.sent.empty()) return;
  sent_.emplace(input.sent);
  const std::vector<index_t> wanted{shape_.signals, shape_.streams};
  if (sent_->dims() != wanted)
    throw ArgumentError(command, "--sent",
                        fmt::format("{} is {}, not {}", input.sent, dims_of(sent_->dims()), dims_of(wanted)));
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
  data.y = HostMatrix<std::complex<T>>(shape_.antennas, count);
  y_.read(first, count, data.y.data());
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
  data.sent = HostMatrix<int>(shape_.streams, count);
  sent_->read(first, count, data.sent.data());
  for (index_t k = 0; k < count; ++k)
    for (index_t j = 0; j < shape_.streams; ++j)
      if (data.sent(j, k) < 0 || data.sent(j, k) >= data.alphabets[static_cast<std::size_t>(j)].size())
        throw ArgumentError(
            command, "--sent",
            fmt::format("label {} at [{}, {}] (from zero) is out of range", data.sent(j, k), first + k, j));
}

template <class T>
MimoPriors<T>::MimoPriors(const std::string& path, index_t signals, index_t bits) : rows_(path) {
  if (rows_.m() != signals || rows_.n() != bits)
    throw ArgumentError(command, "--prior",
                        fmt::format("{} is {} x {}, not {} x {}", path, rows_.m(), rows_.n(), signals, bits));
}

template <class T>
HostMatrix<T> MimoPriors<T>::read(index_t first, index_t count) const {
  HostMatrix<T> turned(count, rows_.n()), priors(rows_.n(), count);
  rows_.read(first, Block<T>{turned.data(), count, rows_.n(), turned.ld()});
  for (index_t k = 0; k < count; ++k)
    for (index_t b = 0; b < rows_.n(); ++b) priors(b, k) = turned(k, b);
  return priors;
}

template class MimoFiles<float>;
template class MimoFiles<double>;
template class MimoPriors<float>;
template class MimoPriors<double>;

}  // namespace tesela::cli
