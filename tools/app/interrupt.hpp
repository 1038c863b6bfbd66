#pragma once

namespace tesela::cli {

/// Makes Ctrl-C, SIGTERM, SIGHUP and every other signal that ends a process, except those of a fault, cancel the graph.
/// A process that has not ended half a second later is terminated and its unfinished output removed. In both cases it
/// returns 128 + the signal's number. Signals that are ignored or have a handler are not changed.
void stop_on_interrupt();

/// Returns the exit code of a cancelled process: 128 + the number of the signal that cancelled it, so 130 after Ctrl-C.
int interrupted();

}  // namespace tesela::cli
