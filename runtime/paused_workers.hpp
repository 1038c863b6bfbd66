#pragma once

namespace tesela {

/// StarPU's workers poll for tasks. While this object lives, they sleep and start no task, so that a library's own
/// threads can use the cores. It affects all graphs: do not wait for tasks or access tiles meanwhile. The end of a tile
/// resumes the workers for a moment.
class PausedWorkers {
 public:
  PausedWorkers();
  ~PausedWorkers();
  PausedWorkers(const PausedWorkers&) = delete;
  PausedWorkers& operator=(const PausedWorkers&) = delete;
};

}  // namespace tesela
