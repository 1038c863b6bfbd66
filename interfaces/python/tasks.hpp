#pragma once

#include "interfaces/python/part.hpp"

#include <memory>
#include <mutex>

namespace tesela::python {

/// Takes the GIL for this thread's state. Blocks forever once the interpreter has ended, as Python 3.14 does: older
/// versions end the thread by unwinding its C++ frames, which aborts the process.
void take_gil(PyThreadState* state) noexcept;

/// Whether this thread runs a kernel that calls Python.
bool in_task();

/// Takes the GIL on a worker's thread, for a kernel.
class InTask {
 public:
  InTask();
  ~InTask();
  InTask(const InTask&) = delete;
  InTask& operator=(const InTask&) = delete;
};

/// Gives up objects on a worker's thread, where nothing may wait for tasks, as the end of a matrix does. They end in
/// the next call of drop_discarded().
void discard(PyObject* object) noexcept;
void discard(std::shared_ptr<void> object);

/// Ends the discarded objects. Needs the GIL.
void drop_discarded();

/// The first exception of a graph's kernels.
class KernelException {
 public:
  ~KernelException() { discard(exception_); }
  /// Keeps the exception unless there is one. Needs the GIL.
  void set(nb::object exception);
  /// Returns the exception and forgets it; invalid if there is none. Needs the GIL.
  nb::object take();

 private:
  std::mutex mutex_;
  PyObject* exception_ = nullptr;
};

}  // namespace tesela::python
