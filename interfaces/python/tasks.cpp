#include "interfaces/python/tasks.hpp"

#include "interfaces/python/call.hpp"

#include <atomic>
#include <unistd.h>
#include <vector>

namespace tesela::python {
namespace {

/// Python's state of a worker's thread, which would cost 50 us for each task.
struct Worker {
  PyThreadState* state = nullptr;
  bool in_task = false;
  ~Worker() {
    if (state == nullptr || Py_IsInitialized() == 0) return;
    PyEval_RestoreThread(state);
    PyGILState_Release(PyGILState_UNLOCKED);  // deletes the state, which PyGILState_Ensure made
  }
};
thread_local Worker worker;

/// Never destroyed: tasks may end until the last exit handler.
struct Discarded {
  std::mutex mutex;
  std::vector<PyObject*> objects;
  std::vector<std::shared_ptr<void>> others;
  std::atomic<bool> any{false};
};
Discarded& discarded() {
  static auto& all = *new Discarded;
  return all;
}

}  // namespace

void take_gil(PyThreadState* state) noexcept {
  try {
    PyEval_RestoreThread(state);
  } catch (...) {
    for (;;) pause();  // pthread_exit unwinds to here
  }
}

bool in_task() { return worker.in_task; }

InTask::InTask() {
  if (worker.state != nullptr) {
    take_gil(worker.state);
  } else {
    PyGILState_Ensure();
    worker.state = PyThreadState_Get();
  }
  worker.in_task = true;
}

InTask::~InTask() {
  worker.in_task = false;
  PyEval_SaveThread();
}

void discard(PyObject* object) noexcept {
  if (object == nullptr) return;
  const std::lock_guard lock(discarded().mutex);
  discarded().objects.push_back(object);
  discarded().any = true;
}

void discard(std::shared_ptr<void> object) {
  const std::lock_guard lock(discarded().mutex);
  discarded().others.push_back(std::move(object));
  discarded().any = true;
}

void drop_discarded() {
  if (!discarded().any) return;
  std::vector<PyObject*> objects;
  std::vector<std::shared_ptr<void>> others;
  {
    const std::lock_guard lock(discarded().mutex);
    objects.swap(discarded().objects);
    others.swap(discarded().others);
    discarded().any = false;
  }
  for (PyObject* const object : objects) Py_DECREF(object);
  if (others.empty()) return;
  const Released free;  // their ends wait for tasks, which may need the GIL
  others.clear();
}

void KernelException::set(nb::object exception) {
  const std::lock_guard lock(mutex_);
  if (exception_ == nullptr) exception_ = exception.release().ptr();
}

nb::object KernelException::take() {
  const std::lock_guard lock(mutex_);
  return nb::steal(std::exchange(exception_, nullptr));
}

}  // namespace tesela::python
