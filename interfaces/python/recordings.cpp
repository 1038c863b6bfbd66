// The recording behind tesela.trace.
#include "interfaces/python/call.hpp"
#include "interfaces/python/tiles.hpp"
#include <tesela/runtime/machine/machine_times.hpp>
#include <tesela/runtime/machine/topology.hpp>
#include <tesela/runtime/simulation/predicted_run.hpp>
#include <tesela/runtime/trace/task_recorder.hpp>
#include <tesela/runtime/trace/trace_picture.hpp>

#include <memory>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>
#include <string>
#include <utility>
#include <vector>

namespace tesela::python {
namespace {

/// Makes dictionaries of NumPy arrays and plain values.
class Columns {
 public:
  template <class F>
  void add(const char* name, const char* dtype, const std::vector<TracedTask>& tasks, F value) {
    nb::list values;
    for (const TracedTask& task : tasks) values.append(value(task));
    dict_[name] = nb::module_::import_("numpy").attr("array")(values, "dtype"_a = dtype);
  }
  nb::dict dict() const { return dict_; }

 private:
  nb::dict dict_;
};

template <class... Values>
nb::dict dict_of(std::pair<const char*, Values>... entries) {
  nb::dict dict;
  ((dict[entries.first] = entries.second), ...);
  return dict;
}
template <class V>
std::pair<const char*, V> entry(const char* name, V value) {
  return {name, std::move(value)};
}

const char* place(bool gpu) { return gpu ? "gpu" : "cpu"; }

class Recording {
 public:
  Recording() {
    with_workers([&](const c::Session& session) {
      recorder_ = std::make_unique<TaskRecorder>(session);
      return 0;
    });
  }
  ~Recording() {
    if (c::forked()) static_cast<void>(recorder_.release());
  }
  explicit Recording(Trace trace) : trace_(std::move(trace)), summary_(summarize(trace_)) {}
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  void stop() {
    scheduler_ = with_workers([&](const c::Session& session) {
      trace_ = recorder_->stop();
      recorder_.reset();
      return session.runtime().scheduler();
    });
    const Released free;
    summary_ = summarize(trace_);
  }
  std::string picture() const { return trace_picture(trace_); }
  const Trace& trace() const { return trace_; }
  std::string page(const std::string& title, const std::string& report) const {
    return trace_page(trace_, summary_, title, report);
  }

  nb::dict figures() const {
    nb::list path;
    for (const std::size_t t : summary_.path) path.append(t);
    return dict_of(
        entry("seconds", summary_.seconds), entry("tasks", tasks()), entry("kernels", kernels()),
        entry("models", models()), entry("workers", workers()), entry("bytes_moved", links()),
        entry("critical_path", nb::module_::import_("numpy").attr("array")(path, "dtype"_a = "int64")),
        entry("bounds", dict_of(entry("critical_path", summary_.path_seconds), entry("path", summary_.path_bound),
                                entry("area", summary_.area_bound), entry("lower_bound", summary_.lower_bound()),
                                entry("unmodelled", summary_.unmodelled))),
        entry("machine", machine()), entry("incomplete", trace_.incomplete));
  }

 private:
  nb::dict tasks() const {
    Columns all;
    const auto& tasks = trace_.tasks;
    const auto text = [](const std::string& s) { return nb::str(s.data(), s.size()); };
    all.add("kernel", "str", tasks, [&](const TracedTask& t) { return text(t.kernel); });
    all.add("label", "str", tasks, [&](const TracedTask& t) { return text(t.label); });
    all.add("tiles", "str", tasks, [&](const TracedTask& t) { return text(t.tiles); });
    all.add("worker", "int64", tasks, [](const TracedTask& t) { return t.worker; });
    all.add("start", "float64", tasks, [](const TracedTask& t) { return t.start; });
    all.add("end", "float64", tasks, [](const TracedTask& t) { return t.end; });
    all.add("inserted", "float64", tasks, [](const TracedTask& t) { return t.submitted; });
    all.add("priority", "int64", tasks, [](const TracedTask& t) { return t.priority; });
    all.add("gflop", "float64", tasks, [](const TracedTask& t) { return t.gflop; });
    all.add("id", "int64", tasks, [](const TracedTask& t) { return t.id; });
    return all.dict();
  }
  nb::list kernels() const {
    nb::list all;
    for (const KernelSummary& k : summary_.kernels)
      all.append(dict_of(entry("kernel", k.kernel), entry("place", place(k.gpu)), entry("tasks", k.tasks),
                         entry("median", k.median), entry("seconds", k.seconds), entry("share", k.share),
                         entry("gflops", k.gflops)));
    return all;
  }
  nb::list models() const {
    nb::list all;
    for (const ModelSummary& m : summary_.models)
      all.append(dict_of(entry("kernel", m.kernel), entry("tiles", m.tiles), entry("place", place(m.gpu)),
                         entry("tasks", m.tasks), entry("least", m.least), entry("median", m.median),
                         entry("most", m.most), entry("model", m.model)));
    return all;
  }
  nb::list workers() const {
    nb::list all;
    for (const WorkerSummary& w : summary_.workers)
      all.append(dict_of(entry("name", w.name), entry("tasks", w.tasks), entry("busy", w.busy), entry("data", w.data),
                         entry("ready", w.ready), entry("insertion", w.insertion), entry("dependences", w.dependences),
                         entry("end", w.end)));
    return all;
  }
  nb::list links() const {
    nb::list all;
    for (const LinkUse& link : trace_.links)
      all.append(dict_of(entry("from", link.from), entry("to", link.to), entry("transfers", link.transfers),
                         entry("bytes", link.bytes)));
    return all;
  }
  nb::dict machine() const {
    const Machine machine = describe_machine();
    nb::list gpus;
    for (const Gpu& gpu : machine.gpus) gpus.append(gpu.name);
    return dict_of(entry("host", machine.host), entry("cpu", machine.cpu_model), entry("cores", machine.cores),
                   entry("gpus", gpus), entry("scheduler", scheduler_));
  }

  std::unique_ptr<TaskRecorder> recorder_;
  std::string scheduler_;
  Trace trace_;
  TraceSummary summary_;
};

std::string compare(const std::vector<std::pair<std::string, const Recording*>>& recordings) {
  std::vector<TitledTrace> traces;
  for (const auto& [title, recording] : recordings) traces.push_back({title, recording->trace()});
  return trace_pictures(traces);
}

/// Returns the predicted schedule as a recording, and its figures.
nb::tuple predict(GraphObject& graph, const std::string& folder, int cores, int gpus) {
  PredictedRun run = graph.with([&](Graph& g) {
    const KernelTimes times(read_kernel_times(folder + "/kernels.csv"));
    const SimulatedMachine machine{.cores = cores, .gpus = gpus, .links = read_links(folder + "/links.csv")};
    return g.predict(machine, times);
  });
  auto recording = std::make_unique<Recording>(std::move(run.trace));
  nb::dict figures = recording->figures();
  figures["seconds"] = run.seconds;
  figures["interpolated_share"] = run.task_seconds > 0 ? run.interpolated_seconds / run.task_seconds : 0;
  figures["interpolated_kernels"] = run.interpolated_kernels;
  return nb::make_tuple(std::move(recording), figures);
}

const Part part([](nb::module_& m) {
  nb::class_<Recording>(m, "_Recording", "The tasks that run while it exists, for tesela.trace.")
      .def(nb::init<>())
      .def("stop", &Recording::stop)
      .def("figures", &Recording::figures)
      .def("picture", &Recording::picture)
      .def("page", &Recording::page, "title"_a, "report"_a);
  m.def("_predict", predict, "graph"_a, "folder"_a, "cores"_a, "gpus"_a, "Return the predicted run of a graph.");
  m.def("_compare", compare, "recordings"_a, "Return one picture of several recordings.");
});

}  // namespace
}  // namespace tesela::python
