#include "interfaces/c/process.hpp"
#include "interfaces/python/call.hpp"
#include "interfaces/python/results.hpp"
#include <tesela/runtime/config.hpp>
#include <tesela/runtime/machine/device_memory.hpp>
#include <tesela/runtime/out_of_memory.hpp>
#include <tesela/runtime/trace.hpp>

#include <atomic>
#include <cstdlib>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <pthread.h>
#include <string>
#include <vector>

namespace tesela::python {
namespace {

std::vector<void (*)(nb::module_&)>& parts() {
  static std::vector<void (*)(nb::module_&)> all;
  return all;
}

/// Python objects that every call needs; never freed.
struct Interpreter {
  unsigned long main_thread = 0;
  PyObject *getsignal = nullptr, *default_handler = nullptr, *sigint = nullptr;
};
Interpreter interpreter;
std::atomic<bool> ending{false};

void read_interpreter() {
  const auto signal = nb::module_::import_("signal"), threading = nb::module_::import_("threading");
  interpreter.main_thread = nb::cast<unsigned long>(threading.attr("main_thread")().attr("ident"));
  interpreter.getsignal = nb::object(nb::module_::import_("_signal").attr("getsignal")).release().ptr();
  interpreter.default_handler = nb::object(signal.attr("default_int_handler")).release().ptr();
  interpreter.sigint = nb::int_(2).release().ptr();
}

void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const ArgumentError& e) {
    std::string words = e.what();  // the command's option --x is the parameter x
    if (const auto option = words.find(": --"); option != std::string::npos) words.erase(option + 2, 2);
    if (const auto help = words.find("; see --help"); help != std::string::npos) words.erase(help);
    PyErr_SetString(PyExc_ValueError, words.c_str());
  } catch (const FileError& e) {
    PyErr_SetString(PyExc_OSError, e.what());
  } catch (const OutOfMemory& e) {
    PyErr_SetString(PyExc_MemoryError, e.what());
  } catch (const EnvironmentError& e) {
    PyErr_SetString(PyExc_OSError, e.what());
  } catch (const Error& e) {  // Cancelled, LifetimeError
    PyErr_SetString(PyExc_RuntimeError, e.what());
  }
}

bool gpu_memory_was_limited() {
  constexpr int most_gpus = 64;
  bool limited = std::getenv("STARPU_LIMIT_CUDA_MEM") != nullptr;
  for (int gpu = 0; gpu < most_gpus && !limited; ++gpu)
    limited = std::getenv(("STARPU_LIMIT_CUDA_" + std::to_string(gpu) + "_MEM").c_str()) != nullptr;
  return limited;
}

/// Returns options that leave memory for other array libraries: tiles may use half of each GPU's free memory.
RuntimeOptions usual_options() {
  RuntimeOptions options;
  const char* gpus = std::getenv("STARPU_NCUDA");
  // Panels run during updates: QR and LU take a sixth less time.
  if (std::getenv("STARPU_NWORKER_PER_CUDA") == nullptr) options.streams_per_gpu = 2;
  if (gpu_memory_was_limited() || (gpus != nullptr && std::string(gpus) == "0")) return options;
  const std::size_t megabytes = free_device_bytes() / 2 >> 20;
  if (megabytes > 0) options.gpu_megabytes = static_cast<int>(megabytes);
  return options;
}

void start(std::optional<int> cpus, std::optional<int> gpus, std::optional<std::string> scheduler,
           std::optional<int> gpu_megabytes, std::optional<int> streams_per_gpu, const std::string& trace_dir) {
  require_process();
  RuntimeOptions options = gpus == 0 ? RuntimeOptions() : usual_options();
  options.cpus = cpus;
  options.gpus = gpus;
  options.scheduler = scheduler;
  if (gpu_megabytes) options.gpu_megabytes = gpu_megabytes;
  if (streams_per_gpu) options.streams_per_gpu = streams_per_gpu;
  options.trace_dir = trace_dir;
  const Released free;
  c::start_workers(options);
}

void stop() {
  const Released free;
  c::stop_workers();
}

void end() {
  ending = true;
  if (c::forked()) return;
  Runtime::cancel();  // for tasks that other threads still run
  stop();
  drop_discarded();
}

std::vector<std::string> workers() {
  return with_workers([](Runtime& runtime) {
    std::vector<std::string> names;
    for (const Worker& worker : runtime.workers()) names.push_back(worker.name);
    return names;
  });
}

}  // namespace

Part::Part(void (*add)(nb::module_&)) { parts().push_back(add); }

bool in_main_thread() { return static_cast<unsigned long>(pthread_self()) == interpreter.main_thread; }

bool ctrl_c_raises() {
  const nb::object now = nb::handle(interpreter.getsignal)(nb::handle(interpreter.sigint));
  return now.ptr() == interpreter.default_handler;
}

bool interpreter_ends() { return ending; }

void add_parts(nb::module_& module) {
  for (const auto add : parts()) add(module);
}

}  // namespace tesela::python

NB_MODULE(_tesela, m) {
  using namespace tesela::python;
  read_interpreter();
  tesela::c::set_usual_options(usual_options);
  nb::register_exception_translator(translate);
  m.attr("__version__") = tesela::config::version;
  m.attr("LinAlgWarning") = nb::steal(PyErr_NewExceptionWithDoc(
      "tesela.LinAlgWarning", "A result may have fewer than two correct digits, for an ill-conditioned problem.",
      PyExc_RuntimeWarning, nullptr));
  m.def("start", start, nb::kw_only(), "cpus"_a = nb::none(), "gpus"_a = nb::none(), "scheduler"_a = nb::none(),
        "gpu_megabytes"_a = nb::none(), "streams_per_gpu"_a = nb::none(), "trace_dir"_a = "",
        R"(Start the workers; otherwise the first call that needs them does.

Parameters
----------
cpus, gpus : int, optional
    Number of cores and GPUs; by default as StarPU's variables and the machine determine.
scheduler : str, optional
    StarPU's policy, such as 'lws' or 'dmdas'.
gpu_megabytes : int, optional
    MiB of each GPU's memory for tiles; by default half of the free memory, or STARPU_LIMIT_CUDA_MEM.
streams_per_gpu : int, optional
    Tasks that one GPU runs at a time; by default 2, or STARPU_NWORKER_PER_CUDA.
trace_dir : str, optional
    Folder for a trace; `stop` and then `convert_trace` convert it for ViTE.

Raises
------
RuntimeError
    If they run already.
)");
  m.def(
      "stop",
      [] {
        if (in_task()) require_process();  // throws
        stop();
      },
      "Wait for all tasks and stop the workers; the next call starts them again. Also runs at the interpreter's end.");
  m.def("workers", workers, "Return the names of the workers. Starts them.");
  m.def(
      "convert_trace",
      [](const std::string& directory) {
        const Released free;
        tesela::convert_trace(directory);
      },
      "directory"_a,
      "Convert the events of `start(trace_dir=...)` to paje.trace, dag.dot and other files, after the workers have "
      "stopped.");
  ResultClass<EighResult> pairs(m, "EighResult", "Eigenvalues and eigenvectors; it can be unpacked.");
  pairs.member("eigenvalues", &EighResult::eigenvalues, "Ascending.")
      .member("eigenvectors", &EighResult::eigenvectors, "One column each.")
      .prints({"eigenvalues", "eigenvectors"});
  unpacks<EighResult>(pairs, [](const EighResult& r) { return nb::make_tuple(r.eigenvalues, r.eigenvectors); });
  add_parts(m);
  nb::module_::import_("atexit").attr("register")(nb::cpp_function(end));
}
