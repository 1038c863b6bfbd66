#pragma once

#include "interfaces/c/process.hpp"
#include "interfaces/python/part.hpp"

#include <string>

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

/// f(session), the workers running and Python free to run other threads.
template <class F>
auto with_workers(F f) {
  require_process();
  const CtrlC watch;
  auto result = [&] {
    try {
      const nb::gil_scoped_release free;
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

/// Throws numpy.linalg.LinAlgError with the attributes `status` and `result`.
[[noreturn]] void raise_lin_alg_error(const std::string& message, const std::string& status, nb::object result);

}  // namespace tesela::python
