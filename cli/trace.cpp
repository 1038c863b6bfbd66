#include "cli/command.hpp"
#include "cli/trace_report.hpp"

namespace tesela::cli {
namespace {

const Command trace(Command::Group::top, "trace", "draw a recorded trace again", [](CLI::App& app) {
  auto directory = std::make_shared<std::string>();
  app.add_option("DIR", *directory, "what --trace DIR left; brought here, say, from a machine without gnuplot")
      ->required();
  app.footer("Example:\n  tesela trace trace/");
  return std::function<int()>([directory] {
    draw_trace(*directory);
    return int{done};
  });
});

}  // namespace
}  // namespace tesela::cli
