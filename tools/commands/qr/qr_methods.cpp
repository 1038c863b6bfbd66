#include "tools/commands/qr/qr_methods.hpp"

#include "tools/app/numbers.hpp"
#include "tools/app/sizes.hpp"
#include "tools/peers/cusolver_qr.hpp"
#include <tesela/algorithms/givens/givens_plan.hpp>
#include <tesela/algorithms/qr/qr_plan.hpp>
#include <tesela/algorithms/support/schedule.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/host/lapack.hpp>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace tesela::cli {
namespace {

template <class T>
class TileQr : public QrGraph<T> {
 public:
  explicit TileQr(const QrMethod& method) : options_(qr_options(method)) {}
  void take_staircase(std::vector<index_t> ends) override { options_.ends = std::move(ends); }
  void factor(Graph& g, const TileMatrix<T>& A) override {
    factors_.reset();
    factors_.emplace(qr(g, A, options_));
  }
  void form_q(Graph& g, const TileMatrix<T>& Q) const override { factors_->form_q(g, Q); }
  void multiply_q(Graph& g, const TileMatrix<T>& C) const override { factors_->apply(g, Side::left, Op::none, C); }
  std::optional<MemoryPlan> plan(const WorkerCounts& workers, Shape a, TileShape tile,
                                 index_t q_columns) const override {
    return plan_qr(workers, a, sizeof(T), tile, q_columns, options_);
  }
  void describe(nlohmann::json& problem) const override {
    problem["tree"] = factors_->tree();
    problem["kernels"] = options_.triangles ? "tt" : "auto";
    problem["ib"] = factors_->ib();
    problem["copy_vectors"] = options_.copy_vectors;
  }

 private:
  QrOptions options_;
  std::optional<QrFactorization<T>> factors_;
};

/// Its tiles hold all rows of some columns.
template <class T>
class RotationQr : public QrGraph<T> {
 public:
  explicit RotationQr(const QrMethod& method) : options_(givens_options(method)) {}
  TileShape cut(TileShape tile, index_t m) const override { return {std::max<index_t>(m, 1), tile.nb}; }
  void take_staircase(std::vector<index_t> ends) override { options_.ends = std::move(ends); }
  void factor(Graph& g, const TileMatrix<T>& A) override {
    factors_.reset();
    factors_.emplace(givens_qr(g, A, options_));
  }
  void form_q(Graph& g, const TileMatrix<T>& Q) const override { factors_->form_q(g, Q); }
  void multiply_q(Graph& g, const TileMatrix<T>& C) const override { factors_->apply(g, Side::left, Op::none, C); }
  std::optional<MemoryPlan> plan(const WorkerCounts& workers, Shape a, TileShape tile,
                                 index_t q_columns) const override {
    return plan_givens_qr(workers, a, sizeof(T), tile.nb, q_columns, options_);
  }
  void describe(nlohmann::json& problem) const override {
    if (options_.method == GivensMethod::stages) problem["order"] = options_.order;
    problem["window"] = options_.window;
  }
  std::optional<index_t> rotations() const override { return factors_->rotations(); }

 private:
  GivensOptions options_;
  std::optional<GivensQr<T>> factors_;
};

template <class T>
class LapackQr : public QrLibrary<T> {
 public:
  explicit LapackQr(Shape shape) : tau_(static_cast<std::size_t>(std::min(shape.rows, shape.cols))) {}
  void factor(HostMatrix<T>& a) override {
    const blas::Threads threads(blas::all_cores());
    lapack::geqrf(a.rows(), a.cols(), a.data(), a.ld(), tau_.data());
  }
  void multiply_q(const HostMatrix<T>& factors, HostMatrix<T>& c) const override {
    const blas::Threads threads(blas::all_cores());
    lapack::ormqr(Op::none, c.rows(), c.cols(), static_cast<index_t>(tau_.size()), factors.data(), factors.ld(),
                  tau_.data(), c.data(), c.ld());
  }

 private:
  std::vector<T> tau_;
};

template <class T>
class CusolverMethod : public QrLibrary<T> {
 public:
  explicit CusolverMethod(Shape shape) : device_(shape.rows, shape.cols) {}
  void factor(HostMatrix<T>& a) override {
    device_.upload(a.data());
    device_.factor();
    device_.download(a.data());
  }
  void multiply_q(const HostMatrix<T>&, HostMatrix<T>& c) const override {
    device_.multiply(Op::none, c.data(), c.cols());
  }

 private:
  CusolverQr<T> device_;
};

}  // namespace

void require_valid(const char* command, const QrMethod& method, const std::string& tile, const CommonOptions& common) {
  const auto only_for = [&](bool given, const char* option, const char* which, bool applies) {
    if (given && !applies)
      throw ArgumentError(command, option, std::string("belongs to --method ") + which + ", not to " + method.name);
  };
  const bool tiles = method.name == "tiles" || method.name == "seminormal";
  only_for(!method.tree.empty(), "--tree", "tiles", tiles);
  only_for(!method.rank_tree.empty(), "--rank-tree", "tiles", tiles);
  only_for(method.kernels != "auto", "--kernels", "tiles", tiles);
  only_for(method.ib != 0, "--ib", "tiles", tiles);
  only_for(!method.copy_vectors, "--no-copy-vectors", "tiles", tiles);
  only_for(!method.order.empty(), "--order", "givens-stages", method.name == "givens-stages");
  if (!method.tree.empty()) require_schedule_order(command, "--tree", method.tree);
  if (!method.rank_tree.empty())
    require_schedule_order(command, "--rank-tree", "ranks:1:" + method.rank_tree + ":" + qr_options(method).tree);
  if (!method.order.empty()) require_schedule_order(command, "--order", method.order);
  parse_tile(tile, {});
  if (method.library() && !common.trace_dir.empty())
    throw ArgumentError(command, "--trace", "records tasks, and --method " + method.name + " has none");
}

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

void add_to(CLI::App& app, QrMethod& method) {
  app.add_option("--tree", method.tree,
                 "tiles: which tile eliminates which (default: " + QrOptions{}.tree + "): " + schedule_order_list())
      ->type_name("ORDER");
  app.add_option("--rank-tree", method.rank_tree,
                 "tiles: among several ranks --tree joins what a rank has of a column, and this tree the ranks")
      ->check(CLI::IsMember({"greedy", "binary", "flat"}));
  app.add_option("--order", method.order, "givens-stages: in which order rotations come (default: diagonal), as --tree")
      ->type_name("ORDER");
  app.add_option("--kernels", method.kernels, "tiles: tt makes every tile triangular before tiles are joined")
      ->check(CLI::IsMember({"auto", "tt"}))
      ->capture_default_str();
  app.add_option("--ib", method.ib, "tiles: inner block size (default: what suits the workers)")
      ->transform(cli::positive());
  app.add_flag("--copy-vectors,!--no-copy-vectors", method.copy_vectors,
               "tiles: copy the vectors of tiles that later tasks change, so that updates need not wait (default)");
}

template <class T>
std::unique_ptr<QrGraph<T>> make_qr_graph(const QrMethod& method) {
  if (givens_method(method.name)) return std::make_unique<RotationQr<T>>(method);
  return std::make_unique<TileQr<T>>(method);
}

template <class T>
std::unique_ptr<QrLibrary<T>> make_qr_library(const QrMethod& method, Shape shape) {
  if (method.name == "lapack") return std::make_unique<LapackQr<T>>(shape);
  return std::make_unique<CusolverMethod<T>>(shape);
}

template std::unique_ptr<QrGraph<float>> make_qr_graph(const QrMethod&);
template std::unique_ptr<QrGraph<double>> make_qr_graph(const QrMethod&);
template std::unique_ptr<QrLibrary<float>> make_qr_library(const QrMethod&, Shape);
template std::unique_ptr<QrLibrary<double>> make_qr_library(const QrMethod&, Shape);

}  // namespace tesela::cli
