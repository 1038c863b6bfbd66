#include "tools/problems/qr/qr_method.hpp"

#include "tools/app/sizes.hpp"
#include <tesela/algorithms/support/schedule.hpp>
#include <tesela/runtime/require.hpp>

#include <algorithm>

namespace tesela::cli {

QrOptions qr_options(const QrMethod& method) {
  QrOptions options;
  if (!method.tree.empty()) options.tree = method.tree;
  options.rank_tree = method.rank_tree;
  options.ib = method.ib;
  options.triangles = method.kernels == "tt";
  options.copy_vectors = method.copy_vectors;
  return options;
}

GivensOptions givens_options(const QrMethod& method) {
  GivensOptions options;
  options.method = *givens_method(method.name);
  if (!method.order.empty()) options.order = method.order;
  return options;
}

void add_to(App& app, QrMethod& method) {
  app.add_option("--tree", method.tree,
                 "tiles: which tile eliminates which (default: " + QrOptions{}.tree + "): " + schedule_order_list())
      ->type_name("ORDER");
  app.add_option("--rank-tree", method.rank_tree,
                 "tiles: among several ranks --tree joins what a rank has of a column, and this tree the ranks")
      ->check(one_of({"greedy", "binary", "flat"}));
  app.add_option("--order", method.order, "givens-stages: in which order rotations come (default: diagonal), as --tree")
      ->type_name("ORDER");
  app.add_option("--kernels", method.kernels, "tiles: tt makes every tile triangular before tiles are joined")
      ->check(one_of({"auto", "tt"}))
      ->show_default();
  app.add_option("--ib", method.ib, "tiles: inner block size (default: what suits the workers)")->positive();
  app.add_flag("--copy-vectors,!--no-copy-vectors", method.copy_vectors,
               "tiles: copy the vectors of tiles that later tasks change, so that updates need not wait (default)");
}

void require_known(const std::string& command, const QrMethod& method, const std::string& tile) {
  if (!method.tree.empty()) require_schedule_order(command.c_str(), "--tree", method.tree);
  if (!method.rank_tree.empty())
    require_schedule_order(command.c_str(), "--rank-tree",
                           "ranks:1:" + method.rank_tree + ":" + qr_options(method).tree);
  if (!method.order.empty()) require_schedule_order(command.c_str(), "--order", method.order);
  parse_tile(tile, {});
}

void require_valid(const char* command, const QrMethod& method, const std::string& tile, const CommonOptions& common) {
  const auto only_for = [&](bool given, const char* option, const char* which, bool applies) {
    require(!given || applies, command, option, "belongs to --method ", which, ", not to ", method.name);
  };
  const bool tiles = method.name == "tiles" || method.name == "seminormal";
  only_for(!method.tree.empty(), "--tree", "tiles", tiles);
  only_for(!method.rank_tree.empty(), "--rank-tree", "tiles", tiles);
  only_for(method.kernels != "auto", "--kernels", "tiles", tiles);
  only_for(method.ib != 0, "--ib", "tiles", tiles);
  only_for(!method.copy_vectors, "--no-copy-vectors", "tiles", tiles);
  only_for(!method.order.empty(), "--order", "givens-stages", method.name == "givens-stages");
  require_known(command, method, tile);
  require(!method.library() || !common.records(), command, common.trace_dir.empty() ? "--report" : "--trace",
          "records tasks, and --method ", method.name, " has none");
}

TileShape qr_tile(const QrMethod& method, const std::string& tile, const Runtime& runtime, Shape a, bool complex,
                  bool from_host) {
  const TileShape cut = parse_tile(tile, tesela::qr_tile(runtime, a.rows, a.cols, complex, from_host));
  return givens_method(method.name) ? TileShape{std::max<index_t>(a.rows, 1), cut.nb} : cut;
}

}  // namespace tesela::cli
