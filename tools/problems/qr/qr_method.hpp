#pragma once

#include "tools/app/arguments.hpp"
#include "tools/app/command.hpp"
#include <tesela/algorithms/givens/givens.hpp>
#include <tesela/algorithms/qr/qr.hpp>
#include <tesela/tiles/tile_matrix.hpp>

#include <string>

namespace tesela::cli {

/// The method of a factorization with its options, shared by `tesela qr`, `tesela ols` and their relatives.
struct QrMethod {
  std::string name = "tiles";
  std::string order;      ///< of rotations; empty: the method's default
  std::string tree;       ///< of tiles; empty: the algorithm's default
  std::string rank_tree;  ///< of tiles, among several ranks
  std::string kernels = "auto";
  index_t ib = 0;
  bool copy_vectors = true;
  bool library() const { return name == "lapack" || name == "gelsd" || name.starts_with("cusolver"); }
};

QrOptions qr_options(const QrMethod& method);          ///< of "tiles"
GivensOptions givens_options(const QrMethod& method);  ///< of a name that givens_method() knows

/// Adds --tree, --rank-tree, --order, --kernels, --ib and --copy-vectors.
void add_to(App& app, QrMethod& method);

/// Throws ArgumentError for an unknown order or tree, or for an invalid tile.
void require_known(const std::string& command, const QrMethod& method, const std::string& tile);
/// Throws ArgumentError also for options of other methods, and for a trace of a library's call.
void require_valid(const char* command, const QrMethod& method, const std::string& tile, const CommonOptions& common);

/// Returns the tiles of A, on the host unless from_host is false, for a method with tiles or rotations; `tile` is the
/// text of --tile.
TileShape qr_tile(const QrMethod& method, const std::string& tile, const Runtime& runtime, Shape a,
                  bool complex = false, bool from_host = true);

}  // namespace tesela::cli
