#pragma once

namespace tesela::cli {

/// From now on Ctrl-C (SIGINT) and SIGTERM cancel the graph; a process that has not ended half a second later is ended,
/// its unfinished output removed. Either way it answers 130.
void stop_on_interrupt();

}  // namespace tesela::cli
