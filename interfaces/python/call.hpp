#pragma once

#include "interfaces/c/process.hpp"
#include "interfaces/python/part.hpp"
#include "interfaces/python/process.hpp"

#include <string>
#include <unistd.h>

namespace tesela::python {

/// While it lives Ctrl-C cancels the tasks too, where Python's own handler would raise KeyboardInterrupt and this is
/// the main thread.
class CtrlC {
 public:
  CtrlC();
  ~CtrlC();
  CtrlC(const CtrlC&) = delete;
  CtrlC& operator=(const CtrlC&) = delete;
  /// Throws KeyboardInterrupt where Ctrl-C was pressed.
  void raise() const;

 private:
  bool watching_ = false;
};

/// Throws LifetimeError after a fork from a process with workers, and at the interpreter's end.
void require_process();

/// Python is free to run other threads. At the interpreter's end a thread that wants it back waits for ever, as from
/// Python 3.14 on: until then it is ended inside C++'s frames, which takes the process with it.
class Released {
 public:
  Released() : state_(PyEval_SaveThread()) {}
  ~Released() {
    if (interpreter_ends() && !in_main_thread())
      for (;;) pause();
    PyEval_RestoreThread(state_);
  }
  Released(const Released&) = delete;
  Released& operator=(const Released&) = delete;

 private:
  PyThreadState* state_;
};

/// f(session), the workers running and Python free to run other threads.
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

/// The name of an array's element, a[i, j], or of a vector's, a[i], as NumPy counts.
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
