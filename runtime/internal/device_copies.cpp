#include <tesela/runtime/config.hpp>
#include <tesela/runtime/internal/device_copies.hpp>

#include <starpu.h>

#include <algorithm>
#include <cstring>
#include <sstream>

#if TESELA_HAVE_CUDA
#include <cuda.h>
#include <cuda_runtime_api.h>
#endif

namespace tesela::detail {

#if TESELA_HAVE_CUDA

namespace {

constexpr std::size_t most_open = 64;
constexpr std::size_t sample_bytes = 4096;
static_assert(sizeof(cudaIpcMemHandle_t) == sizeof(DevicePlace::allocation));

/// Clears the error of a failed call, which is a valid result here; the next caller must not find it.
bool done(cudaError_t status) {
  if (status == cudaSuccess) return true;
  static_cast<void>(cudaGetLastError());
  return false;
}

/// The driver's cuMemGetAddressRange; the driver library is not linked.
auto address_range() {
  using Function = CUresult (*)(CUdeviceptr*, std::size_t*, CUdeviceptr);
  static const Function function = [] {
    void* found = nullptr;
    cudaDriverEntryPointQueryResult result{};
#if CUDART_VERSION >= 12050
    const bool right =
        done(cudaGetDriverEntryPointByVersion("cuMemGetAddressRange", &found, 12000, cudaEnableDefault, &result));
#else
    const bool right = done(cudaGetDriverEntryPoint("cuMemGetAddressRange", &found, cudaEnableDefault, &result));
#endif
    return right && result == cudaDriverEntryPointSuccess ? reinterpret_cast<Function>(found) : nullptr;
  }();
  return function;
}

/// Returns this thread's stream on the device.
cudaStream_t stream_of(int device) {
  struct Streams {
    std::map<int, cudaStream_t> of;
    ~Streams() {
      for (const auto& [device, stream] : of)
        if (done(cudaSetDevice(device))) static_cast<void>(done(cudaStreamDestroy(stream)));
    }
  };
  static thread_local Streams streams;
  const auto [place, is_new] = streams.of.try_emplace(device, nullptr);
  if (is_new && !done(cudaStreamCreateWithFlags(&place->second, cudaStreamNonBlocking))) {
    streams.of.erase(place);
    return nullptr;
  }
  return place->second;
}

bool transfer(const Runs& to, int device, const std::byte* from, std::size_t stride) {
  if (!done(cudaSetDevice(device))) return false;
  const cudaStream_t stream = stream_of(device);
  if (stream == nullptr) return false;
  // Contiguous columns are copied as one run: copies of many rows have limits.
  const bool dense = to.columns == 1 || (to.stride == to.bytes && stride == to.bytes);
  const bool begun =
      dense
          ? done(cudaMemcpyAsync(to.begin, from, to.size(), cudaMemcpyDefault, stream))
          : done(cudaMemcpy2DAsync(to.begin, to.stride, from, stride, to.bytes, to.columns, cudaMemcpyDefault, stream));
  return begun && done(cudaStreamSynchronize(stream));
}

int device_of(unsigned node) { return starpu_memory_node_get_devid(node); }

std::string words_of(const DevicePlace& place) {
  std::string words;
  for (const std::byte byte : place.allocation) words += std::to_string(std::to_integer<int>(byte)) + ',';
  return words + std::to_string(place.offset);
}

bool read_words(const std::string& words, DevicePlace& place) {
  const char* at = words.c_str();
  for (std::byte& byte : place.allocation) {
    char* end = nullptr;
    byte = static_cast<std::byte>(std::strtol(at, &end, 10));
    if (end == at || *end != ',') return false;
    at = end + 1;
  }
  place.offset = std::strtoull(at, nullptr, 10);
  return true;
}

/// Contents of a sample, which uninitialized memory does not have by chance.
std::array<std::byte, sample_bytes> pattern() {
  std::array<std::byte, sample_bytes> bytes{};
  for (std::size_t k = 0; k < bytes.size(); ++k) bytes[k] = static_cast<std::byte>(k * 151 + 17);
  return bytes;
}

}  // namespace

std::string DeviceCopies::open() {
  constexpr starpu_ssize_t least = starpu_ssize_t{8} << 30;
  for (unsigned node = 0; node < starpu_memory_nodes_get_count(); ++node)
    if (starpu_node_get_kind(node) == STARPU_CUDA_RAM) nodes_.push_back(node);
  const auto small = [](unsigned node) {
    const auto bytes = starpu_memory_get_total(node);
    return bytes >= 0 && bytes < least;
  };
  if (std::any_of(nodes_.begin(), nodes_.end(), small)) nodes_.clear();
  if (nodes_.empty()) return {};
  const auto bytes = pattern();
  std::string words;
  for (const unsigned node : nodes_) {
    const int device = device_of(node);
    DevicePlace place;
    void*& sample = samples_.emplace_back(nullptr);
    if (!done(cudaSetDevice(device)) || !done(cudaMalloc(&sample, sample_bytes)) ||
        !transfer({static_cast<std::byte*>(sample), sample_bytes, 1, sample_bytes}, device, bytes.data(),
                  sample_bytes) ||
        !describe(static_cast<std::byte*>(sample), node, place)) {
      close();
      return {};
    }
    words += words_of(place) + ';';
  }
  return words;
}

void DeviceCopies::close() noexcept {
  const std::lock_guard lock(mutex_);
  for (const auto& [key, open] : open_)
    if (done(cudaSetDevice(key.first))) static_cast<void>(done(cudaIpcCloseMemHandle(open.begin)));
  open_.clear();
  for (std::size_t k = 0; k < samples_.size(); ++k)
    if (samples_[k] != nullptr && done(cudaSetDevice(device_of(nodes_[k]))))
      static_cast<void>(done(cudaFree(samples_[k])));
  samples_.clear();
  nodes_.clear();
}

bool DeviceCopies::reaches(const std::string& said) {
  if (nodes_.empty() || said.empty()) return false;
  std::istringstream places(said);
  for (std::string words; std::getline(places, words, ';');) {
    DevicePlace place;
    if (!read_words(words, place)) return false;
    for (const unsigned node : nodes_)
      if (!reaches(place, node)) return false;
  }
  return true;
}

bool DeviceCopies::reaches(const DevicePlace& place, unsigned node) {
  const int device = device_of(node);
  void* here = nullptr;
  if (!done(cudaSetDevice(device)) || !done(cudaMalloc(&here, sample_bytes))) return false;
  const Runs there{static_cast<std::byte*>(here), sample_bytes, 1, sample_bytes};
  std::array<std::byte, sample_bytes> found{};
  const bool right = read(there, node, place, sample_bytes) &&
                     transfer({found.data(), sample_bytes, 1, sample_bytes}, device, there.begin, sample_bytes) &&
                     found == pattern();
  static_cast<void>(done(cudaFree(here)));
  return right;
}

bool DeviceCopies::describe(const std::byte* memory, unsigned node, DevicePlace& place) {
  const auto range = address_range();
  if (range == nullptr || !done(cudaSetDevice(device_of(node)))) return false;
  CUdeviceptr base = 0;
  std::size_t bytes = 0;
  const auto address = static_cast<CUdeviceptr>(reinterpret_cast<std::uintptr_t>(memory));
  if (range(&base, &bytes, address) != CUDA_SUCCESS) return false;
  cudaIpcMemHandle_t handle{};
  // NOLINTNEXTLINE(performance-no-int-to-ptr): the driver keeps addresses as integers.
  if (!done(cudaIpcGetMemHandle(&handle, reinterpret_cast<void*>(base)))) return false;
  std::memcpy(place.allocation.data(), &handle, sizeof handle);
  place.offset = address - base;
  return true;
}

void DeviceCopies::close_idle(std::size_t most) {
  while (open_.size() > most) {
    auto oldest = open_.end();
    for (auto it = open_.begin(); it != open_.end(); ++it)
      if (it->second.readers == 0 && (oldest == open_.end() || it->second.used < oldest->second.used)) oldest = it;
    if (oldest == open_.end()) return;
    if (done(cudaSetDevice(oldest->first.first))) static_cast<void>(done(cudaIpcCloseMemHandle(oldest->second.begin)));
    open_.erase(oldest);
  }
}

std::byte* DeviceCopies::acquire(const Key& key) {
  const std::lock_guard lock(mutex_);
  if (const auto known = open_.find(key); known != open_.end()) {
    known->second.used = ++uses_;
    ++known->second.readers;
    return known->second.begin;
  }
  void* begin = nullptr;
  const auto open_after_closing = [&](std::size_t most) {
    close_idle(most);
    cudaIpcMemHandle_t handle{};
    std::memcpy(&handle, key.second.data(), sizeof handle);
    return done(cudaSetDevice(key.first)) && done(cudaIpcOpenMemHandle(&begin, handle, cudaIpcMemLazyEnablePeerAccess));
  };
  // Freed memory that is still open here may occupy the address of the owner's new memory.
  if (!open_after_closing(most_open - 1) && !open_after_closing(0)) return nullptr;
  open_[key] = {static_cast<std::byte*>(begin), ++uses_, 1};
  return static_cast<std::byte*>(begin);
}

void DeviceCopies::release(const Key& key) {
  const std::lock_guard lock(mutex_);
  --open_[key].readers;
}

bool DeviceCopies::read(const Runs& to, unsigned node, const DevicePlace& from, std::size_t stride) {
  const int device = device_of(node);
  if (!done(cudaSetDevice(device))) return false;
  const Key key{device, from.allocation};
  const std::byte* const there = acquire(key);
  if (there == nullptr) return false;
  const bool right = transfer(to, device, there + from.offset, stride);
  release(key);
  return right;
}

#else

std::string DeviceCopies::open() { return {}; }
void DeviceCopies::close() noexcept {}
bool DeviceCopies::reaches(const std::string&) { return false; }
bool DeviceCopies::describe(const std::byte*, unsigned, DevicePlace&) { return false; }
bool DeviceCopies::read(const Runs&, unsigned, const DevicePlace&, std::size_t) { return false; }

#endif

}  // namespace tesela::detail
