#pragma once

#include "interfaces/c/process.hpp"
#include "interfaces/python/part.hpp"
#include "interfaces/python/tasks.hpp"

#include <string>
#include <unistd.h>

namespace tesela::python {

/// Whether this is the interpreter's main thread, and whether Ctrl-C raises KeyboardInterrupt there.
bool in_main_thread();
bool ctrl_c_raises();

/// True once the module's atexit handler has run.
bool interpreter_ends();

/// Makes Ctrl-C also cancel the tasks while it lives, if this is the main thread and Python's own handler would raise
/// KeyboardInterrupt.
class CtrlC {
 public:
  CtrlC();
  ~CtrlC();
  CtrlC(const CtrlC&) = delete;
  CtrlC& operator=(const CtrlC&) = delete;
  /// Throws KeyboardInterrupt if Ctrl-C was pressed.
  void raise() const;

 private:
  bool watching_ = false;
};

/// Throws LifetimeError in a task, after a fork from a process with workers, and at the interpreter's end. Ends objects
/// that tasks gave up.
void require_process();

/// Releases the GIL while it lives. Threads that want it back after the module's atexit handler has run wait forever.
class Released {
 public:
  Released() : state_(PyEval_SaveThread()) {}
  ~Released() {
    if (interpreter_ends() && !in_main_thread())
      for (;;) pause();
    take_gil(state_);
  }
  Released(const Released&) = delete;
  Released& operator=(const Released&) = delete;

 private:
  PyThreadState* state_;
};

/// Calls f(session) with running workers and without the GIL.
template <class F>
auto with_workers(F f) {
  require_process();
  const CtrlC watch;
  auto result = [&] {
    try {
      const Released free;
      const c::Session session;
      return f(session);
    } catch (const Cancelled&) {
      watch.raise();
      throw;
    }
  }();
  watch.raise();
  return result;
}

/// Returns the name of an array's element, a[i, j] or a[i], with NumPy's indices.
inline std::string element(const std::string& name, index_t i) { return name + "[" + std::to_string(i) + "]"; }
inline std::string element(const std::string& name, index_t i, index_t j) {
  return name + "[" + std::to_string(i) + ", " + std::to_string(j) + "]";
}
inline std::string column(const std::string& name, index_t j) { return name + "[:, " + std::to_string(j) + "]"; }

/// Issues a tesela.LinAlgWarning at the caller's line; throws it if a warning filter makes it an error.
void warn_lin_alg(const std::string& message);

/// Throws numpy.linalg.LinAlgError with the attributes `status` and `result`.
[[noreturn]] void raise_lin_alg_error(const std::string& message, const std::string& status, nb::object result);

}  // namespace tesela::python
