#include "tools/app/arguments.hpp"
#include "tools/app/numbers.hpp"
#include "tools/app/sizes.hpp"
#include "tools/bench/givens/givens_rows.hpp"
#include "tools/bench/harness/published.hpp"
#include "tools/bench/harness/report.hpp"
#include "tools/peers/device.hpp"
#include <tesela/algorithms/support/schedule.hpp>
#include <tesela/runtime/require.hpp>

#include <fmt/format.h>

#include <algorithm>

namespace tesela::bench {

using namespace kernels;
namespace {

struct GivensOptionsOfBench : Options {
  std::string table = "stages", order = "diagonal";
  index_t m = 8192, nb = 0, mb = 0, window = 32;
  std::string tile;
  std::vector<index_t> n, half_widths{-1, 1, 2, 3};
  std::vector<int> blocks;
  std::vector<std::string> peers;
  bool stages() const { return table == "stages"; }
  bool has(const std::string& peer) const { return std::find(peers.begin(), peers.end(), peer) != peers.end(); }
};

void resolve(GivensOptionsOfBench& o, bool gpu) {
  if (o.n.empty())
    o.n = o.stages() ? std::vector<index_t>{64, 256, 512, 1024, 2048, 4096, 8192}
                     : std::vector<index_t>{5000, 8000, 10000, 15000, 20000};
  if (o.blocks.empty()) o.blocks = gpu && o.stages() ? std::vector<int>{32, 64, 128, 256, 512} : std::vector<int>{128};
  require(o.stages() || !o.has("givens"), "bench givens", "--peers", "givens forms no Q, which --table chain wants");
  if (o.peers.empty()) {
    o.peers = {"tesela", "lapack"};
    if (o.stages()) o.peers.insert(o.peers.begin() + 1, "givens");
    if (gpu) o.peers.emplace_back("cusolver");
  }
  if (o.has("cusolver")) require_gpu("givens");
  if (!o.tile.empty()) {
    const TileShape tile = cli::parse_tile(o.tile, {});
    o.mb = tile.mb;
    o.nb = tile.nb;
  }
  // The sources' times are GPUs'; a core would only fetch tiles.
  if (gpu && o.common.ncpu < 0) o.common.ncpu = 0;
  if (gpu && o.common.ncuda < 0) o.common.ncuda = 1;
}

std::string matrix_name(index_t half_width) {
  if (half_width < 0) return "dense";
  return half_width == 1   ? "tridiagonal"
         : half_width == 2 ? "pentadiagonal"
         : half_width == 3 ? "heptadiagonal"
                           : fmt::format("band {}", half_width);
}

/// Returns the rows of a case, by the peers' names.
template <class T>
std::vector<QrRow<T>> rows_of(const GivensOptionsOfBench& o, bool gpu, bool band) {
  std::vector<QrRow<T>> rows;
  if (o.has("tesela")) {
    for (const int block : o.blocks) {
      const GivensOptions options{o.stages() ? GivensMethod::stages : GivensMethod::chain, o.order, o.window, block};
      const std::string name = o.stages() ? o.order : "chain";
      rows.push_back({gpu ? fmt::format("{} {}", name, block) : name, "", QrRow<T>::Place::graph,
                      [options](cli::QrProblem<T>& p) { return by_rotations(p, options); }});
    }
    if (band) rows.push_back(band_row<T>());
  }
  if (o.has("givens")) rows.push_back(sequential_row<T>());
  for (const char* library : {"lapack", "cusolver"})
    if (o.has(library)) rows.push_back(find_method(cli::qr_table<T>(), library));
  return rows;
}

template <class T>
void run_case(const GivensOptionsOfBench& o, Runtime& runtime, Report& report, Shape a, index_t half_width,
              TileShape tile) {
  const bool gpu = runtime.gpus() > 0;
  cli::QrProblem<T> problem{{},        fmt::format("{}x{}", tile.mb, tile.nb), a, o.common.seed, &runtime, !o.stages(),
                            half_width};
  problem.generate_uniform(gpu);
  std::vector<Peer> peers;
  for (const QrRow<T>& row : rows_of<T>(o, gpu, half_width >= 0)) peers.push_back(make_peer(row.name, row, problem));
  std::vector<Timing> timings = alternate(peers, o.common.repeat);
  if (gpu && o.has("tesela")) {
    const auto [m, nb] = TileShape{a.rows, tile.nb};
    for (const Timing& t : time_transfers(problem, {m, nb}, tile.mb, o.common.repeat)) timings.push_back(t);
  }
  const double elements = static_cast<double>(a.rows) * static_cast<double>(a.cols + (o.stages() ? 0 : a.rows));
  const std::string title =
      o.stages() ? fmt::format("{} x {}", a.rows, a.cols) : fmt::format("{} {}", matrix_name(half_width), a.cols);
  report.add({title, a.rows, a.cols, 0, fmt::format("{}x{}", a.rows, tile.nb), gpu ? "device" : "host", "Melement/s"},
             timings, 0, [&](double seconds) { return elements / seconds * 1e-6; });
}

template <class T>
void run(GivensOptionsOfBench o) {
  const bool gpu = o.gpu();
  resolve(o, gpu);
  require_schedule_order("bench givens", "--order", o.order);
  Runtime runtime(o.runtime());
  Report report("givens", o, &runtime);
  for (const index_t n : o.n)
    for (const index_t half_width : o.stages() ? std::vector<index_t>{-1} : o.half_widths) {
      const index_t m = o.stages() ? o.m : n;
      // A GPU wants all columns in one launch; cores share them out.
      const index_t nb = o.nb > 0 ? o.nb : gpu ? n : 64, mb = o.mb > 0 ? o.mb : gpu ? m : 256;
      run_case<T>(o, runtime, report, {m, n}, half_width, {mb, nb});
    }
  for (Row& row : report.rows()) {
    const bool one_core = row.timing.peer == sequential_row<T>().name;
    if (o.stages() && row.what.m == 8192 && o.common.precision == "s")
      if (one_core ||
          (gpu && row.timing.peer.starts_with("diagonal") && row.timing.peer.find(',') == std::string::npos))
        row.published_s = published_value({.source = "ramiro-2010",
                                           .table = "3.1",
                                           .column = one_core ? "sequential" : "by diagonals",
                                           .n = row.what.n});
    if (gpu && !o.stages())
      row.published_s = published_chain_seconds(o.common.precision, row.what.title.substr(0, row.what.title.find(' ')),
                                                row.what.n, row.timing.peer, runtime.gpus());
  }
  if (gpu) report.note("in, out: transfers between host and device, in no other row's time");
  report.note("lapack and cusolver factor by Householder vectors: geqrf, and orgqr where Q is wanted");
  if (!o.stages())
    report.note("R and Q. A band that is stored in full, as the Cinvestav thesis did, and as a band side by side");
  if (gpu)
    report.note(o.stages()
                    ? "source: Ramiro Sánchez 2010, Table 3.1, on a Quadro FX 5800, 0.09 to 7.89 times as fast as "
                      "its sequential code; precision not stated"
                    : "source: Cinvestav thesis, Tables 6.1 to 6.11, on one or two Tesla K20X in the same precision, "
                      "transfers included (ours: in, out); lapack: MKL, 12 threads");
  report.finish();
}

const cli::Command givens_command(
    cli::Command::Group::bench, "givens",
    "QR by plane rotations: Ramiro Sánchez 2010, Table 3.1, and the Cinvestav thesis, LAPACK and cuSOLVER",
    [](cli::App& app) {
      auto o = std::make_shared<GivensOptionsOfBench>();
      o->common.repeat = 3;
      o->common.precision = "s";
      o->add_to(app, "givens", {.complex = true});
      app.add_option("--table", o->table, "stages: R of m x n in stages; chain: R and Q of n x n, dense and bands")
          ->check(cli::one_of({"stages", "chain"}))
          ->show_default();
      app.add_option("-m,--m", o->m, "rows, of the table of stages")->positive()->show_default();
      app.add_list("-n,--n", o->n, "columns, several with commas (default: the table's)")->positive();
      app.add_option("--order", o->order, "of the stages: " + schedule_order_list())
          ->type_name("ORDER")
          ->show_default();
      app.add_list("--half-width", o->half_widths, "of the table of chains' matrices; -1: dense")->show_default();
      app.add_list("--block", o->blocks, "threads of a block on a GPU, several with commas");
      app.add_option("--window", o->window, "columns whose rotations are one task")
          ->check(cli::between(1, static_cast<double>(max_givens_window)))
          ->show_default();
      auto* tile = cli::add_tile(app, o->tile, "MB or MBxNB", "rows of Q's tiles and columns of A's");
      cli::add_deprecated_alias(app, "--nb", o->nb, tile)->positive();
      cli::add_deprecated_alias(app, "--mb", o->mb, tile)->positive();
      add_peers(app, o->peers, {"tesela", "givens", "lapack", "cusolver"});
      return for_numbers(o, []<class T>(const auto& options) { run<T>(options); });
    });

}  // namespace
}  // namespace tesela::bench
