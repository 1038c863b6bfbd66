#include <tesela/runtime/internal/starpu.hpp>
#include <tesela/runtime/paused_workers.hpp>

namespace tesela {

PausedWorkers::PausedWorkers() {
  if (starpu_is_initialized() != 0) starpu_pause();
}
PausedWorkers::~PausedWorkers() {
  if (starpu_is_initialized() != 0) starpu_resume();
}

}  // namespace tesela
