#include "tools/bench/adi/adi_peers.hpp"
#include "tools/peers/harness.hpp"
#include <tesela/algorithms/tridiagonal/tridiagonal_matrices.hpp>

#include <fmt/format.h>

namespace tesela::bench {
namespace {

template <class T>
class TeselaAdi : public AdiProgram<T> {
 public:
  explicit TeselaAdi(const AdiData<T>& data)
      : AdiProgram<T>("tesela"),
        data_(&data),
        u_(data.runtime(), data.n(), data.n(), data.tile(), "u"),
        v_(data.runtime(), data.n(), data.n(), data.tile(), "v"),
        explicit_x_(matrix(data.c(), SystemsIn::columns)),
        implicit_x_(matrix(-data.c(), SystemsIn::columns)),
        explicit_y_(matrix(data.c(), SystemsIn::rows)),
        implicit_y_(matrix(-data.c(), SystemsIn::rows)) {}

  bool uses_workers() const override { return true; }

  void restart() override {
    u_.copy_from(data_->start().data(), data_->n());
    const index_t gpus = data_->runtime().gpus();
    if (!data_->on_device()) return;
    Graph g(data_->runtime());
    for (index_t t = 0; t < u_.nt(); ++t) g.prefetch_to_gpu(u_(0, t), static_cast<int>(t * gpus / u_.nt()));
  }

  void advance(index_t steps) override {
    const TridiagonalOptions along_x{.systems = SystemsIn::columns}, along_y{.systems = SystemsIn::rows};
    Graph g(data_->runtime());
    for (index_t step = 0; step < steps; ++step) {
      tridiagonal_multiply(g, explicit_y_, u_, v_, along_y);
      tridiagonal_solve(g, implicit_x_, v_, along_x);
      tridiagonal_multiply(g, explicit_x_, v_, u_, along_x);
      tridiagonal_solve(g, implicit_y_, u_, along_y);
    }
    const Status status = g.wait();
    if (!status.ok()) throw WrongResult(fmt::format("bench adi: tesela: status {}", status.info));
  }

  std::vector<T> u() const override {
    std::vector<T> u(data_->start().size());
    u_.copy_to(u.data(), data_->n());
    return u;
  }

 private:
  /// Returns I + c d² along columns or rows.
  Tridiagonal<T> matrix(T c, SystemsIn systems) const {
    const index_t n = data_->n();
    const auto diagonal = [&](T value) {
      TileMatrix<T> a = systems == SystemsIn::columns ? TileMatrix<T>(data_->runtime(), n, 1, {data_->tile().mb, 1})
                                                      : TileMatrix<T>(data_->runtime(), 1, n, {1, data_->tile().nb});
      a.copy_from(std::vector<T>(static_cast<std::size_t>(n), value).data(), a.m());
      return a;
    };
    return {diagonal(c), diagonal(1 - 2 * c), diagonal(c)};
  }

  const AdiData<T>* data_;
  TileMatrix<T> u_, v_;
  Tridiagonal<T> explicit_x_, implicit_x_, explicit_y_, implicit_y_;
};

}  // namespace

template <class T>
std::unique_ptr<AdiProgram<T>> tesela_adi(const AdiData<T>& data) {
  return std::make_unique<TeselaAdi<T>>(data);
}

TESELA_FUNCTIONS_FOR_REALS(tesela_adi)

}  // namespace tesela::bench
