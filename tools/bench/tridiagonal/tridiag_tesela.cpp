#include "tools/bench/tridiagonal/tridiag_peers.hpp"
#include "tools/peers/harness.hpp"
#include <tesela/algorithms/dense/matrices.hpp>
#include <tesela/algorithms/tridiagonal/parallel_reduction.hpp>
#include <tesela/algorithms/tridiagonal/tridiagonal_matrices.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace tesela::bench {

using namespace kernels;
namespace {

/// Does nothing on the worker that runs it: the tile then has no other valid copy.
template <class T>
struct Settle {
  static constexpr auto name = "settle";
  struct Args {};
  static void cuda(CudaContext&, const Args&, InOut<T>) {}
};

template <class T>
class TeselaTridiag : public TridiagSolver<T> {
 public:
  TeselaTridiag(const TridiagData<T>& data, SystemsIn systems, index_t solves,
                std::shared_ptr<const HostSystems<T>> host, std::string name,
                std::optional<ParallelReductionOptions> reduction)
      : TridiagSolver<T>(std::move(name), systems, solves),
        data_(&data),
        host_(std::move(host)),
        reduction_(reduction) {}

  bool uses_workers() const override { return true; }

  void restore() override {
    if (host_) return map();
    Graph g(data_->runtime());
    const bool first = !bands_;
    if (first) {
      bands_ = Tridiagonal<T>{matrix("dl"), matrix("d"), matrix("du")};
      fill(g, *bands_, data_->what().kind, data_->what().seed, {.systems = this->systems()});
      for (index_t c = 0; c < this->solves(); ++c) rhs_.push_back(matrix("B"));
    }
    for (const TileMatrix<T>& B : rhs_) fill(g, B, data_->b());
    if (first)
      for (const TileMatrix<T>* band : {&bands_->dl, &bands_->d, &bands_->du}) place(g, *band);
    for (const TileMatrix<T>& B : rhs_) place(g, B);
    g.wait();
  }

  void start(index_t copy) override {
    const TileMatrix<T>& B = rhs_[static_cast<std::size_t>(copy)];
    if (!graph_) graph_.emplace(data_->runtime());
    if (reduction_)
      parallel_reduction(*graph_, *bands_, B, *reduction_);
    else
      tridiagonal_solve(*graph_, *bands_, B, {.systems = this->systems(), .one_pass = data_->what().one_pass});
    if (!host_ || data_->runtime().gpus() == 0) return;
    B.for_each_tile([&](Tile<T> tile, index_t, index_t) { graph_->bring_home(tile); });
    at_home_.push_back(B);
  }

  void wait() override {
    const Status status = graph_->wait();
    graph_.reset();  // a next solve that used it would also wait for this one's status tiles again
    for (const TileMatrix<T>& B : at_home_) B.bring_home();
    at_home_.clear();
    if (!status.ok()) throw WrongResult(fmt::format("bench tridiag: {}: status {}", this->name(), status.info));
  }

  void copy_solution(index_t copy, T* x) const override {
    rhs_[static_cast<std::size_t>(copy)].copy_to(x, data_->what().shape(this->systems()).rows);
  }

 private:
  TileMatrix<T> matrix(const char* name) const {
    const Shape shape = data_->what().shape(this->systems());
    return TileMatrix<T>(data_->runtime(), shape.rows, shape.cols, data_->what().tile(this->systems()), name);
  }

  /// The arrays of one tile belong together, and device g holds the g-th share of the tiles, alone: of a copy elsewhere
  /// the scheduler might make use.
  void place(Graph& g, const TileMatrix<T>& A) const {
    const index_t gpus = data_->runtime().gpus(), tiles = A.mt() * A.nt();
    index_t t = 0;
    A.for_each_tile([&](Tile<T> tile, index_t, index_t) {
      g.insert<Settle<T>>(on_gpu_number(static_cast<std::size_t>(t++ * gpus / tiles)), {}, tile);
    });
  }

  /// Registers the matrices again, so that no device has a copy.
  void map() {
    bands_.reset();
    rhs_.clear();
    host_->restore();
    const auto mapped = [&](T* a, const char* name) {
      const Shape shape = data_->what().shape(this->systems());
      return TileMatrix<T>::map(data_->runtime(), a, shape.rows, shape.cols, shape.rows,
                                data_->what().tile(this->systems()), name);
    };
    const TridiagonalRow<T*> bands = host_->bands();
    bands_ = Tridiagonal<T>{mapped(bands.dl, "dl"), mapped(bands.d, "d"), mapped(bands.du, "du")};
    for (index_t c = 0; c < this->solves(); ++c) rhs_.push_back(mapped(host_->b(c), "B"));
  }

  const TridiagData<T>* data_;
  std::shared_ptr<const HostSystems<T>> host_;
  std::optional<ParallelReductionOptions> reduction_;
  std::optional<Tridiagonal<T>> bands_;
  std::vector<TileMatrix<T>> rhs_, at_home_;
  std::optional<Graph> graph_;  // ends before the matrices
};

}  // namespace

template <class T>
std::unique_ptr<TridiagSolver<T>> tesela_tridiag(const TridiagData<T>& data, SystemsIn systems, index_t solves,
                                                 std::shared_ptr<const HostSystems<T>> host) {
  return std::make_unique<TeselaTridiag<T>>(data, systems, solves, std::move(host),
                                            systems == SystemsIn::columns ? "tesela" : "tesela-rows", std::nullopt);
}

template <class T>
std::unique_ptr<TridiagSolver<T>> reduction_tridiag(const TridiagData<T>& data, const std::string& name, index_t solves,
                                                    std::shared_ptr<const HostSystems<T>> host) {
  const index_t n = data.what().n, half = std::max<index_t>(n / 2, 1), quarter = std::max<index_t>(n / 4, 1);
  const ParallelReductionOptions options =
      name == "pcr"      ? ParallelReductionOptions{ParallelReduction::pcr, n}
      : name == "rd"     ? ParallelReductionOptions{ParallelReduction::rd, n}
      : name == "cr-pcr" ? ParallelReductionOptions{ParallelReduction::cr_pcr, half}
      : name == "cr-rd"  ? ParallelReductionOptions{ParallelReduction::cr_rd, quarter}
                         : ParallelReductionOptions{ParallelReduction::cr_pcr, 1};
  return std::make_unique<TeselaTridiag<T>>(data, SystemsIn::columns, solves, std::move(host), name, options);
}

template std::unique_ptr<TridiagSolver<float>> tesela_tridiag(const TridiagData<float>&, SystemsIn, index_t,
                                                              std::shared_ptr<const HostSystems<float>>);
template std::unique_ptr<TridiagSolver<double>> tesela_tridiag(const TridiagData<double>&, SystemsIn, index_t,
                                                               std::shared_ptr<const HostSystems<double>>);
template std::unique_ptr<TridiagSolver<float>> reduction_tridiag(const TridiagData<float>&, const std::string&, index_t,
                                                                 std::shared_ptr<const HostSystems<float>>);
template std::unique_ptr<TridiagSolver<double>> reduction_tridiag(const TridiagData<double>&, const std::string&,
                                                                  index_t, std::shared_ptr<const HostSystems<double>>);

}  // namespace tesela::bench
