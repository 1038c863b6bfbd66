#include "tools/app/command.hpp"
#include "tools/app/outputs.hpp"
#include "tools/app/trace_report.hpp"
#include <tesela/runtime/errors.hpp>

#include <fmt/format.h>

namespace tesela::cli {
namespace {

struct TraceOptions {
  std::vector<std::string> directories;
  std::string out, report;
  double from = 0, to = 0;
  bool quiet = false;
};

const Command trace(Command::Group::top, "trace", "convert and draw a recorded trace", [](App& app) {
  auto o = std::make_shared<TraceOptions>();
  app.add_option("DIR", o->directories,
                 "what --trace DIR left, or a program run with STARPU_FXT_TRACE=1 and STARPU_FXT_PREFIX=DIR; several "
                 "are drawn in one picture with one time axis")
      ->required();
  app.add_option("--from", o->from, "draw from this second on")->non_negative();
  app.add_option("--to", o->to, "draw up to this second; 0: to the end")->non_negative();
  app.add_option("-o,--out", o->out, "picture of several traces; default traces.svg in the first DIR")
      ->type_name("FILE")
      ->check(ends_with({".svg"}, "a picture"));
  add_output(app, Output::text, "--report", o->report, "write the page of the last run instead, for a browser")
      ->check(ends_with({".html", ".htm"}, "a page"));
  add_quiet(app, o->quiet);
  app.footer(
      "Examples:\n  tesela trace trace/\n  tesela trace trace/ --from 0.1 --to 0.2\n"
      "  tesela trace trace/ --report run.html\n"
      "  tesela trace eager/ dmdas/ --out compare.svg");
  return std::function<int()>([o] {
    const std::string& first = o->directories.front();
    if (!o->report.empty()) {
      if (o->directories.size() > 1) throw ArgumentError("trace", "--report", "is for one trace");
      if (o->from > 0 || o->to > 0)
        throw ArgumentError("trace", "--report", "shows the whole run: omit --from and --to");
      if (!report_trace(first, o->report)) return int{environment};
      if (!o->quiet) fmt::print("wrote   {}\n", o->report);
      return int{done};
    }
    if (o->directories.size() == 1) {
      if (!o->out.empty()) throw ArgumentError("trace", "--out", "is for several traces; one goes to DIR/trace.svg");
      if (!draw_trace(first, o->from, o->to)) return int{environment};
      if (!o->quiet)
        fmt::print("wrote   {0}/trace.svg\nwrote   {0}/trace.json (open it in https://ui.perfetto.dev)\n", first);
      return int{done};
    }
    const std::string picture = o->out.empty() ? first + "/traces.svg" : o->out;
    if (!compare_traces(o->directories, picture, o->from, o->to)) return int{environment};
    if (!o->quiet) fmt::print("wrote   {}\n", picture);
    return int{done};
  });
});

}  // namespace
}  // namespace tesela::cli
