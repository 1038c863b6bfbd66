#pragma once

namespace tesela::cli {

/// From now on Ctrl-C, SIGTERM, SIGHUP and every other signal that would end the process, except those of a fault,
/// cancel the graph; a process that has not ended half a second later is ended, its unfinished output removed. Either
/// way it answers 128 and the signal's number. Signals that are ignored, or have a handler, stay as they are.
void stop_on_interrupt();

/// What a cancelled process answers: 128 and the number of the signal that cancelled it, so 130 after Ctrl-C.
int interrupted();

}  // namespace tesela::cli
