#pragma once

namespace tesela::python {

/// Whether this is the interpreter's main thread, and whether Ctrl-C raises KeyboardInterrupt there.
bool in_main_thread();
bool ctrl_c_raises();

/// From the module's atexit handler on.
bool interpreter_ends();

}  // namespace tesela::python
