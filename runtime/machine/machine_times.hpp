#pragma once

#include <tesela/runtime/types.hpp>

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tesela {

/// Time of a kernel at one shape on one kind of worker.
struct KernelTime {
  std::string kernel;       ///< name of its performance model
  bool on_gpu = false;      ///< on a GPU, or on a core
  std::uint32_t shape = 0;  ///< hash of the shapes of its tiles and of its cost key
  double bytes = 0;         ///< bytes of its tiles
  double flops = 0;         ///< operations of a task
  double seconds = 0;       ///< mean time
  double deviation = 0;     ///< standard deviation of the time, in seconds
  index_t samples = 0;      ///< number of measured tasks
  /// Whether both are times of one kernel, kind of worker and shape.
  bool is_of_same(const KernelTime& other) const {
    return kernel == other.kernel && on_gpu == other.on_gpu && shape == other.shape;
  }
};

/// Returns the times as CSV, a line for each.
std::string to_csv(const std::vector<KernelTime>& times);
/// Reads the CSV file of to_csv(). Throws FileError for an unreadable file or a wrong line.
std::vector<KernelTime> read_kernel_times(const std::string& path);

/// Returns the times in StarPU's performance models of one host: the files *.HOST of this folder. GPUs share theirs.
std::vector<KernelTime> modelled_times(const std::string& folder, const std::string& host);

/// The times of a machine's kernels. Shapes that were not measured are interpolated within their kernel.
class KernelTimes {
 public:
  /// Times without a sample do not count.
  explicit KernelTimes(std::vector<KernelTime> times);

  /// Time of a task.
  struct Found {
    double seconds;  ///< its time
    bool measured;   ///< whether it was measured at this shape
  };
  /// Whether the kernel has times on this kind of worker.
  bool has(std::string_view kernel, bool on_gpu) const;
  /// Returns the time of a task. The logarithm of the time of an unknown shape is linear in the logarithm of its flops
  /// (bytes, if no time of the kernel has flops) between two measured shapes, and proportional to them beyond. Shapes
  /// with another ratio of bytes and flops, as of another precision, count only if no other exists. The kernel has
  /// times.
  Found find(std::string_view kernel, bool on_gpu, std::uint32_t shape, double bytes, double flops) const;

 private:
  std::map<std::pair<std::string, bool>, std::vector<KernelTime>, std::less<>> times_;
};

}  // namespace tesela
