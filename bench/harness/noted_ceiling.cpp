#include "bench/harness/noted_ceiling.hpp"

#include "bench/harness/device.hpp"
#include <tesela/runtime/config.hpp>

#include <fmt/format.h>

namespace tesela::bench {

double noted_copy_ceiling(Report& report, [[maybe_unused]] const Runtime& runtime, [[maybe_unused]] bool on_device) {
  const PausedWorkers paused;
#if TESELA_HAVE_CUDA
  if (on_device) {
    const double device = copy_ceiling();
    report.note(fmt::format("ceiling: a copy within one device {:.0f} GB/s, read and written, times {} devices", device,
                            runtime.gpus()));
    return device * runtime.gpus();
  }
#endif
  const double cores = host_copy_ceiling();
  report.note(fmt::format("ceiling: a copy within host memory by all cores {:.1f} GB/s, read and written", cores));
  return cores;
}

}  // namespace tesela::bench
