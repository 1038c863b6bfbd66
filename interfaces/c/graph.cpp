#include "interfaces/c/arguments.hpp"
#include "interfaces/c/objects.hpp"

#include <utility>

namespace tesela::c {

GraphObject::~GraphObject() { join_background(); }

void GraphObject::insert(const std::function<void(Graph&)>& tasks) {
  const std::scoped_lock lock(mutex_);
  join_background();
  tasks(graph_);
}

void GraphObject::run_in_background(std::function<Code(Graph&)> work) {
  const std::scoped_lock lock(mutex_);
  join_background();
  behind_ = std::async(std::launch::async, [this, work = std::move(work)] {
    try {
      message().clear();
      const Code info = work(graph_);
      if (info != 0 && info_ == 0 && !thrown_) {
        info_ = info;
        said_ = message();
      }
    } catch (...) {
      if (!thrown_) thrown_ = std::current_exception();
    }
  });
}

Code GraphObject::wait() {
  const std::scoped_lock lock(mutex_);
  join_background();
  const Code info = std::exchange(info_, 0);
  const std::string said = std::exchange(said_, {});
  const std::exception_ptr thrown = std::exchange(thrown_, nullptr);
  const Status status = graph_.wait();
  if (thrown) std::rethrow_exception(thrown);
  if (info != 0) return failed(info, said);
  if (!status.ok()) return failed(status.info, "a task's status is " + std::to_string(status.info));
  return 0;
}

void GraphObject::join_background() {
  if (behind_.valid()) behind_.get();
}

/// Makes a graph. The tesela_…_async functions insert tasks into it and return before these have run. Tasks on the same
/// tiles run in the order of insertion. Several graphs may be in use at once, and threads may share them.
Code graph_create(tesela_graph** graph) {
  require_output_pointer("graph", graph);
  const Session session;
  hand_out(graph, std::make_shared<GraphObject>(session.runtime()));
  return 0;
}

/// Waits for all tasks of the graph. Returns the first failure since the previous wait once, and 0 if nothing was
/// inserted since. Result structs of asynchronous calls are complete when it returns.
Code graph_wait(tesela_graph* graph) {
  const auto g = object<GraphObject>("graph", graph);
  const Session session;
  return g->wait();
}

/// Waits for the graph's tasks and destroys it; does not report failures. NULL is allowed.
Code graph_free(tesela_graph* graph) { return free_handle<GraphObject>("graph", graph); }

}  // namespace tesela::c
