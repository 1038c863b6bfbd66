#pragma once

namespace tesela {

/// StarPU's workers poll for tasks. While this lives they sleep and start none, so that a library's own threads have
/// the cores. It concerns every graph: do not wait for tasks meanwhile.
class PausedWorkers {
 public:
  PausedWorkers();
  ~PausedWorkers();
  PausedWorkers(const PausedWorkers&) = delete;
  PausedWorkers& operator=(const PausedWorkers&) = delete;
};

}  // namespace tesela
