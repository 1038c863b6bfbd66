#pragma once

#include <tesela/runtime/types.hpp>

#include <cstddef>

namespace tesela {

class Runtime;

/// Memory of a CUDA device that somebody may keep beyond the Runtime's end: results that an array library owns then.
class DeviceBuffer {
 public:
  /// Throws OutOfMemory where the device has not so much left, and EnvironmentError without such a device.
  DeviceBuffer(int device, std::size_t bytes);
  /// Waits for all that is under way on the device, as cudaFree does.
  ~DeviceBuffer();
  DeviceBuffer(DeviceBuffer&& other) noexcept;
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept;

  void* data() const { return data_; }
  int device() const { return device_; }

 private:
  int device_;
  void* data_ = nullptr;
};

/// The number among the runtime's GPUs (TileMatrix::map_device) of a CUDA device. Throws EnvironmentError where it is
/// none of them.
int gpu_of_device(const Runtime& runtime, int device);

/// Columns in memory, `ld` elements apart, on the host or on a device.
struct ColumnsAt {
  void* data;
  index_t ld;
};

/// Copies a matrix between the host and the device, or on it; it has arrived at return.
void copy_columns(int device, ColumnsAt to, ColumnsAt from, Shape shape, std::size_t element_size);

/// Makes a matrix on the device zero, likewise.
void zero_columns(int device, ColumnsAt to, Shape shape, std::size_t element_size);

/// Bytes that are free on the visible CUDA device with the least; 0 without one.
std::size_t free_device_bytes();

}  // namespace tesela
