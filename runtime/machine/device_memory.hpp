#pragma once

#include <tesela/runtime/types.hpp>

#include <cstddef>

namespace tesela {

class Runtime;

/// Memory of a CUDA device that may outlive the Runtime: results that an array library owns.
class DeviceBuffer {
 public:
  /// Throws OutOfMemory if the device has too little free memory, and EnvironmentError if there is no such device.
  DeviceBuffer(int device, std::size_t bytes);
  /// Waits for all work on the device, as cudaFree does.
  ~DeviceBuffer();
  DeviceBuffer(DeviceBuffer&& other) noexcept;
  DeviceBuffer& operator=(DeviceBuffer&& other) noexcept;

  void* data() const { return data_; }    ///< address on the device
  int device() const { return device_; }  ///< CUDA's number of the device

 private:
  int device_;
  void* data_ = nullptr;
};

/// Returns the runtime's number (as in TileMatrix::map_device) of a CUDA device. Throws EnvironmentError if the runtime
/// does not use that device.
int gpu_of_device(const Runtime& runtime, int device);

/// Columns in host or device memory, `ld` elements apart.
struct ColumnsAt {
  void* data;  ///< first element
  index_t ld;  ///< distance of neighbouring columns, in elements
};

/// Copies a matrix between host and device, or on the device; waits for the copy.
void copy_columns(int device, ColumnsAt to, ColumnsAt from, Shape shape, std::size_t element_size);

/// Sets a matrix on the device to zero; waits for the end.
void zero_columns(int device, ColumnsAt to, Shape shape, std::size_t element_size);

/// Returns the seconds that each column adds to the copy of a block of a larger matrix from page-locked host memory to
/// the device, or back: blocks of 8 MiB with columns of 8 KiB, 96 KiB apart, against contiguous memory.
double measured_column_seconds(int device, bool to_device);

/// Bytes that are free on the visible CUDA device with the least free memory; 0 without a device.
std::size_t free_device_bytes();

}  // namespace tesela
