#pragma once

namespace tesela {

/// StarPU's workers poll for tasks. While this object lives, they sleep and start no task, so that a library's own
/// threads can use the cores. It affects all graphs: do not wait for tasks meanwhile.
class PausedWorkers {
 public:
  PausedWorkers();
  ~PausedWorkers();
  PausedWorkers(const PausedWorkers&) = delete;
  PausedWorkers& operator=(const PausedWorkers&) = delete;
};

}  // namespace tesela
