#include "tools/app/numbers.hpp"
#include "tools/bench/mimo/mimo_rows.hpp"

#include <algorithm>

namespace tesela::bench {
namespace {

const std::vector<std::string> all_rows{"qr",    "tables", "one-channel", "channel-each", "many", "slot4",
                                        "slot8", "soft4",  "soft8",       "hard4",        "hard8"};

template <class T>
void run(MimoBench o) {
  RuntimeOptions options = o.runtime();
  options.profile = true;  // for the kernels' own seconds
  Runtime runtime(options);
  if (o.many == 0) o.many = runtime.gpus() > 0 ? 10000000 : 1000000;
  Report report("mimo", o, &runtime);
  for (const std::string& rows : o.rows.empty() ? all_rows : o.rows) {
    if (rows == "qr")
      add_qr_rows<T>(report, runtime, o);
    else if (rows == "tables")
      add_table_rows(report, runtime, o);
    else if (rows == "soft4" || rows == "soft8")
      add_soft_rows<T>(report, runtime, o, rows);
    else if (rows == "hard4" || rows == "hard8")
      add_hard_rows<T>(report, runtime, o, rows);
    else
      add_search_rows<T>(report, runtime, o, rows);
  }
  report.note(
      "times are from host to host (H, y and the results page-locked beforehand), for QRs and likelihoods between "
      "events of the device if there is one; "
      "kernel_s: of the kernels alone");
  report.note("an answer is checked by a second order of columns; nodes and steps differ from run to run on GPUs");
  report.finish();
}

const cli::Command command(
    cli::Command::Group::bench, "mimo", "MIMO detection, slots and single channels, likelihoods, and many small QRs",
    [](cli::App& app) {
      auto o = std::make_shared<MimoBench>();
      o->common.repeat = 5;
      o->common.precision = "s";
      o->add_to(app, "mimo");
      app.add_list(
             "--rows", o->rows,
             "qr, tables, one-channel, channel-each, many, slot4, slot8, soft4, soft8, hard4, hard8 (default: all)")
          ->check(cli::one_of(all_rows));
      app.add_option("--matrices", o->matrices, "of qr")->positive()->show_default();
      app.add_option("--signals", o->signals, "of one-channel and channel-each")->positive()->show_default();
      app.add_option("--many", o->many, "signals of many (default: 10000000, on cores alone 1000000)")->positive();
      app.add_option("--max-nodes", o->max_nodes, "of slots: a second row with such a bound")->positive();
      app.add_option("--slots", o->slots, "also p99 / median over N different slots")->positive();
      return for_reals(o, []<class T>(const auto& options) { run<T>(options); });
    });

}  // namespace
}  // namespace tesela::bench
