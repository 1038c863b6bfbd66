#include "cli/app/command.hpp"
#include "cli/app/trace_report.hpp"

namespace tesela::cli {
namespace {

const Command trace(Command::Group::top, "trace", "convert and draw a recorded trace", [](CLI::App& app) {
  auto directory = std::make_shared<std::string>();
  app.add_option("DIR", *directory,
                 "what --trace DIR left, or a program run with STARPU_FXT_TRACE=1 and STARPU_FXT_PREFIX=DIR")
      ->required();
  app.footer("Example:\n  tesela trace trace/");
  return std::function<int()>([directory] { return int{draw_trace(*directory) ? done : environment}; });
});

}  // namespace
}  // namespace tesela::cli
