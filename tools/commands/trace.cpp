#include "tools/app/command.hpp"
#include "tools/app/numbers.hpp"
#include "tools/app/trace_report.hpp"

namespace tesela::cli {
namespace {

struct TraceOptions {
  std::string directory;
  double from = 0, to = 0;
};

const Command trace(Command::Group::top, "trace", "convert and draw a recorded trace", [](App& app) {
  auto o = std::make_shared<TraceOptions>();
  app.add_option("DIR", o->directory,
                 "what --trace DIR left, or a program run with STARPU_FXT_TRACE=1 and STARPU_FXT_PREFIX=DIR")
      ->required();
  app.add_option("--from", o->from, "draw from this second on")->transform(non_negative());
  app.add_option("--to", o->to, "draw up to this second; 0: to the end")->transform(non_negative());
  app.footer("Examples:\n  tesela trace trace/\n  tesela trace trace/ --from 0.1 --to 0.2");
  return std::function<int()>([o] { return int{draw_trace(o->directory, o->from, o->to) ? done : environment}; });
});

}  // namespace
}  // namespace tesela::cli
