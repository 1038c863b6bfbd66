#include "tools/bench/toeplitz/toeplitz_solve_peers.hpp"

#include "tools/peers/cusolver_solve.hpp"
#include <tesela/algorithms/toeplitz/cauchy_factorization.hpp>
#include <tesela/algorithms/toeplitz/cauchy_inverse.hpp>
#include <tesela/algorithms/toeplitz/gohberg_semencul.hpp>
#include <tesela/algorithms/toeplitz/toeplitz_solve.hpp>
#include <tesela/host/blas.hpp>
#include <tesela/host/lapack.hpp>
#include <tesela/runtime/topology.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <unistd.h>

namespace tesela::bench {

template <class T>
struct DenseMatrices {
  HostMatrix<T> shifted;  ///< t - sigma e_1
  HostMatrix<T> on_host;
  std::unique_ptr<CusolverSolve<T>> on_device;
};

namespace {

/// Solvers that are graphs: B and X are one tile, page-locked with a GPU, up to date on the host before and after.
template <class T>
class GraphSolver : public ToeplitzSolver<T> {
 public:
  explicit GraphSolver(const ToeplitzSystem<T>& system)
      : system_(&system),
        memory_(system.b.rows(), system.b.cols()),
        X_(TileMatrix<T>::map(system.runtime, memory_.data(), memory_.rows(), memory_.cols(), memory_.ld(),
                              {memory_.rows(), memory_.cols()}, "X")) {}
  bool uses_workers() const override { return true; }
  void restore() override { X_.copy_from(system_->b.data(), system_->b.ld()); }
  const T* x() const override { return memory_.data(); }

 protected:
  const ToeplitzSystem<T>* system_;
  HostMatrix<T> memory_;
  TileMatrix<T> X_;
};

/// All of `tesela toeplitz solve`: from t and B; `auto` with its verdict, which is why one takes it.
template <class T>
class First : public GraphSolver<T> {
 public:
  First(const ToeplitzSystem<T>& system, ToeplitzMethod method) : GraphSolver<T>(system), method_(method) {}
  std::string solve() override {
    Graph g(this->system_->runtime);
    const Toeplitz<T> A(g, this->system_->t);
    const ToeplitzSolution solved =
        toeplitz_solve(g, A, this->system_->sigma, this->X_, {method_, method_ == ToeplitzMethod::automatic});
    this->X_.bring_home();
    return solved.failure;
  }

 private:
  ToeplitzMethod method_;
};

/// A further solve: B alone is new.
template <class T, class Inverse>
class Again : public GraphSolver<T> {
 public:
  explicit Again(const ToeplitzSystem<T>& system)
      : GraphSolver<T>(system),
        outcome_(system.runtime, system.b.cols(), 4, {system.b.cols(), 4}, "outcome"),
        inverse_([&] {
          Graph g(system.runtime);
          Inverse inverse(g, Toeplitz<T>(g, system.t), system.sigma);
          static_cast<void>(g.wait());  // solves say what became of it
          return inverse;
        }()) {}
  std::string solve() override {
    Graph g(this->system_->runtime);
    inverse_.solve(g, this->X_, outcome_);
    const Status status = g.wait();
    this->X_.bring_home();
    if (status.ok()) return {};
    return status.info <= inverse_.n() ? fmt::format("breakdown at order {}", status.info)
                                       : "refinement did not reach rounding level";
  }

 private:
  TileMatrix<double> outcome_;
  Inverse inverse_;
};

/// A dense matrix, factored and solved with.
template <class T>
class DenseSolver : public ToeplitzSolver<T> {
 public:
  DenseSolver(const ToeplitzSystem<T>& system, std::shared_ptr<DenseMatrices<T>> dense, bool cholesky)
      : system_(&system), dense_(std::move(dense)), x_(system.b.clone()), cholesky_(cholesky) {}
  bool uses_workers() const override { return false; }
  void restore() override { std::copy_n(system_->b.data(), system_->b.size(), x_.data()); }
  const T* x() const override { return x_.data(); }

 protected:
  std::string reason(int info) const {
    if (info == 0) return {};
    return cholesky_ ? fmt::format("not positive definite: the leading minor of order {}", info)
                     : fmt::format("singular: pivot {} is zero", info);
  }
  const ToeplitzSystem<T>* system_;
  std::shared_ptr<DenseMatrices<T>> dense_;
  HostMatrix<T> x_;
  bool cholesky_;
};

template <class T>
class Lapack : public DenseSolver<T> {
 public:
  using DenseSolver<T>::DenseSolver;
  void restore() override {
    DenseSolver<T>::restore();
    const index_t n = this->x_.rows();
    const HostMatrix<T>& t = this->dense_->shifted;
    HostMatrix<T>& a = this->dense_->on_host;
    if (a.rows() != n) a = HostMatrix<T>(n, n);
    for (index_t j = 0; j < n; ++j) {
      std::reverse_copy(t.data(), t.data() + j + 1, &a(0, j));
      std::copy(t.data(), t.data() + (n - j), &a(j, j));
    }
    threads_.emplace(blas::all_cores());
  }
  std::string solve() override {
    HostMatrix<T>&a = this->dense_->on_host, &x = this->x_;
    const int info = this->cholesky_ ? lapack::posv(a.rows(), x.cols(), a.data(), a.ld(), x.data(), x.ld())
                                     : lapack::gesv(a.rows(), x.cols(), a.data(), a.ld(), x.data(), x.ld());
    threads_.reset();
    return this->reason(info);
  }

 private:
  std::optional<blas::Threads> threads_;
};

template <class T>
class Cusolver : public DenseSolver<T> {
 public:
  using DenseSolver<T>::DenseSolver;
  void restore() override {
    DenseSolver<T>::restore();
    auto& device = this->dense_->on_device;
    if (!device) device = std::make_unique<CusolverSolve<T>>(this->x_.rows(), this->x_.cols());
    device->prepare(this->dense_->shifted.data(), by());
  }
  std::string solve() override { return this->reason(this->dense_->on_device->solve(this->x_.data(), by())); }

 private:
  auto by() const { return this->cholesky_ ? CusolverSolve<T>::By::cholesky : CusolverSolve<T>::By::lu; }
};

constexpr const char* again = "-again";

}  // namespace

const std::vector<std::string>& toeplitz_solver_names() {
  static const std::vector<std::string> all = [] {
    std::vector<std::string> names;
    for (const auto& method : toeplitz_methods()) {
      names.emplace_back(method.name);
      if (names.back() != "auto" && names.back() != "levinson") names.push_back(method.name + std::string(again));
    }
    names.insert(names.end(), {"lapack-cholesky", "lapack-lu", "cusolver-cholesky", "cusolver-lu"});
    return names;
  }();
  return all;
}

template <class T>
ToeplitzSolvers<T>::ToeplitzSolvers(const ToeplitzSystem<T>& system)
    : system_(&system), dense_(std::make_shared<DenseMatrices<T>>()) {
  constexpr double usable = 0.9;
  const Machine machine = describe_machine();
  host_left_ = usable * static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE));
  device_left_ = machine.gpus.empty() ? 0 : usable * static_cast<double>(machine.gpus.front().memory_bytes);
  dense_->shifted = system.t.clone();
  dense_->shifted(0, 0) -= system.sigma;
}

template <class T>
ToeplitzSolvers<T>::~ToeplitzSolvers() = default;

template <class T>
void ToeplitzSolvers<T>::take(bool on_device, double bytes) {
  double& left = on_device ? device_left_ : host_left_;
  if (bytes > left)
    throw EnvironmentError(fmt::format("it needs {:.1f} GB of {} memory, {:.1f} are free after the peers before it",
                                       bytes * 1e-9, on_device ? "device" : "host", left * 1e-9));
  left -= bytes;
}

template <class T>
std::unique_ptr<ToeplitzSolver<T>> ToeplitzSolvers<T>::make(const std::string& name) {
  const auto n = static_cast<double>(system_->t.rows()), square = n * n * sizeof(T);
  const bool gpu = system_->runtime.gpus() > 0;
  if (name.starts_with("cauchy")) take(gpu, square / 2);
  if (name == std::string("gohberg-semencul") + again) return std::make_unique<Again<T, GohbergSemencul<T>>>(*system_);
  if (name == std::string("lookahead") + again) return std::make_unique<Again<T, CauchyInverse<T>>>(*system_);
  if (name == std::string("cauchy") + again) return std::make_unique<Again<T, CauchyFactorization<T>>>(*system_);
  for (const auto& method : toeplitz_methods())
    if (method.name == name) return std::make_unique<First<T>>(*system_, method.value);
  const bool cholesky = name.ends_with("-cholesky"), lapack = name.starts_with("lapack");
  bool& taken = lapack ? host_taken_ : device_taken_;
  if (!taken) take(!lapack, square);
  taken = true;
  if (lapack) return std::make_unique<Lapack<T>>(*system_, dense_, cholesky);
  return std::make_unique<Cusolver<T>>(*system_, dense_, cholesky);
}

template class ToeplitzSolvers<float>;
template class ToeplitzSolvers<double>;

}  // namespace tesela::bench
