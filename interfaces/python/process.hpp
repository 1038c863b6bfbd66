#pragma once

namespace tesela::python {

/// Whether this is the interpreter's main thread, and whether Ctrl-C raises KeyboardInterrupt there.
bool in_main_thread();
bool ctrl_c_raises();

/// True once the module's atexit handler has run.
bool interpreter_ends();

}  // namespace tesela::python
