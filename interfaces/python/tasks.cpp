#include "interfaces/python/tasks.hpp"

#include <atomic>
#include <vector>

namespace tesela::python {
namespace {

thread_local int depth = 0;

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

bool in_task() { return depth > 0; }

InTask::InTask() : state_(PyGILState_Ensure()) { ++depth; }

InTask::~InTask() {
  --depth;
  PyGILState_Release(state_);
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
