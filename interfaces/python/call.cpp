#include "interfaces/python/call.hpp"

#include <tesela/runtime/graph.hpp>

#include <atomic>
#include <csignal>
#include <nanobind/stl/string.h>

namespace tesela::python {
namespace {

struct sigaction python_handler;  // while a CtrlC exists
std::atomic<bool> pressed{false};

extern "C" void cancel_and_tell_python(int signal) {
  Runtime::cancel();
  pressed = true;
  python_handler.sa_handler(signal);
}

/// Clears a cancellation without tasks, which would cancel the next graph.
void forget_cancellation() {
  if (!Runtime::cancelled()) return;
  const c::Session session;
  try {
    Graph(session).wait();
  } catch (const Error&) {
  }
}

}  // namespace

CtrlC::CtrlC() {
  if (!in_main_thread() || !ctrl_c_raises()) return;
  pressed = false;
  struct sigaction ours {};
  if (sigaction(SIGINT, nullptr, &python_handler) != 0 || (python_handler.sa_flags & SA_SIGINFO) != 0 ||
      python_handler.sa_handler == SIG_DFL || python_handler.sa_handler == SIG_IGN)
    return;
  ours = python_handler;
  ours.sa_handler = cancel_and_tell_python;
  watching_ = sigaction(SIGINT, &ours, nullptr) == 0;
}

CtrlC::~CtrlC() {
  if (watching_) sigaction(SIGINT, &python_handler, nullptr);
}

void CtrlC::raise() const {
  if (!watching_ || !pressed) return;
  forget_cancellation();
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

void require_process() {
  if (in_task())
    throw LifetimeError("a kernel calls tesela: a kernel works on its tiles alone, and the loop inserts other tasks");
  if (c::forked())
    throw LifetimeError(
        "the workers belong to the process that this one was forked from: start them after the fork, or use "
        "multiprocessing's method 'spawn'");
  if (interpreter_ends()) throw LifetimeError("the interpreter ends, and the workers were stopped");
  drop_discarded();
}

void warn_lin_alg(const std::string& message) { nb::module_::import_("tesela._arrays").attr("warn")(message); }

void raise_lin_alg_error(const std::string& message, const std::string& status, nb::object result) {
  const nb::object type = nb::module_::import_("numpy.linalg").attr("LinAlgError");
  const nb::object error = type(message);
  error.attr("status") = status;
  error.attr("result") = result;
  PyErr_SetObject(type.ptr(), error.ptr());
  throw nb::python_error();
}

}  // namespace tesela::python
