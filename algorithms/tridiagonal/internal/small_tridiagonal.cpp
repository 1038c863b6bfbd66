#include <tesela/algorithms/support/calling_thread.hpp>
#include <tesela/algorithms/tridiagonal/internal/small_tridiagonal.hpp>

#include <algorithm>
#include <span>

namespace tesela::detail {
namespace {

using namespace kernels;
using tridiagonal::SystemResidual;
using tridiagonal::Verdict;

/// Largest number of unknowns; tasks start in less time than the calling thread solves more.
constexpr double largest_small = 4096;

template <class P, class M>
P block(const M& a) {
  P p;
  p.data = a.data, p.rows = a.rows, p.cols = a.cols, p.ld = a.ld;
  return p;
}

/// A matrix of a kernel's parameters.
template <class T>
struct Room {
  std::vector<T> numbers;
  index_t rows, cols;

  Room(index_t m, index_t n) : numbers(static_cast<std::size_t>(m * n)), rows(m), cols(n) {}
  template <class P>
  P as() {
    P p;
    p.data = numbers.data(), p.rows = rows, p.cols = cols, p.ld = rows;
    return p;
  }
};

/// Systems in columns with their bands.
template <class T>
struct SmallSystems {
  using Real = real_t<T>;
  In<T> dl, d, du;
  tridiagonal::SystemsTile place;

  index_t n() const { return d.rows; }

  /// Solves B <- A^-1 B. Returns the status of tridiagonal_solve.
  int solve(Room<T>& b) const {
    Room<tridiagonal::Segment<T>> work(tridiagonal::work_segments(n()), b.cols);
    Room<int> info(1, 1);
    typename TridiagonalSolve<T>::Args args;
    static_cast<tridiagonal::SystemsTile&>(args) = place;
    args.periodic = place.before;
    TridiagonalSolve<T>::cpu(args, dl, d, du, b.template as<InOut<T>>(),
                             work.template as<Scratch<tridiagonal::Segment<T>>>(), info.as<InOut<int>>());
    return info.numbers[0];
  }

  /// Measures X, as TridiagonalResiduals::measure. r may be empty.
  Verdict<real_t<T>> measure(Room<T>& x, In<T> b, std::span<const Out<T>> r, std::uint64_t probe,
                             std::vector<SystemResidual<real_t<T>>>& all) const {
    Room<SystemResidual<real_t<T>>> parts(tridiagonal::misfits(n()), x.cols), whole(1, x.cols);
    Room<Verdict<real_t<T>>> verdict(1, 1);
    typename TridiagonalResidual<T>::Args args;
    static_cast<tridiagonal::SystemsTile&>(args) = place;
    args.probe = probe;
    const auto in = x.template as<In<T>>();
    TridiagonalResidual<T>::cpu(args, dl, d, du, in, in, in, b, parts.template as<Out<SystemResidual<real_t<T>>>>(), r);
    const auto tiles = parts.template as<In<SystemResidual<real_t<T>>>>();
    TridiagonalEvaluate<real_t<T>>::cpu(
        {.tolerance = probe > 0 ? Real(0) : static_cast<Real>(tridiagonal_residual_bound<T>),
         .componentwise =
             probe > 0 ? std::numeric_limits<Real>::infinity() : static_cast<Real>(tridiagonal_equilibrated_bound<T>),
         .n = n()},
        whole.template as<Out<SystemResidual<real_t<T>>>>(), verdict.template as<Out<Verdict<real_t<T>>>>(),
        {&tiles, 1});
    all = std::move(whole.numbers);
    return verdict.numbers[0];
  }

  /// Estimates the condition by two solves for probes.
  TridiagonalCondition probed_condition(Room<T>& x, In<T> b) const {
    TridiagonalCondition result;
    Room<T> to_dl(dl.rows, dl.cols), to_d(d.rows, d.cols), to_du(du.rows, du.cols), r(n(), x.cols), y(n(), x.cols);
    TridiagonalConvert<T, T>::cpu(place, dl, d, du, to_dl.template as<Out<T>>(), to_d.template as<Out<T>>(),
                                  to_du.template as<Out<T>>());
    const SmallSystems rows{to_dl.template as<In<T>>(), to_d.template as<In<T>>(), to_du.template as<In<T>>(), place};
    std::vector<SystemResidual<real_t<T>>> of_x, of_y;
    for (const std::uint64_t seed : {1, 2}) {
      const auto list = r.template as<Out<T>>();
      measure(x, b, {&list, 1}, seed, of_x);
      In<SystemResidual<real_t<T>>> whole;
      whole.data = of_x.data(), whole.rows = whole.ld = 1, whole.cols = x.cols;
      TridiagonalDemote<T, T>::cpu({place.systems}, r.template as<In<T>>(), whole, y.template as<Out<T>>());
      const bool solved = rows.solve(y) == 0;
      rows.measure(y, y.template as<In<T>>(), {}, 0, of_y);
      raise_condition(result, solved, of_x, of_y);
    }
    return result;
  }
};

}  // namespace

template <class T>
std::optional<CheckedSolve> tridiagonal_solve_here(const Runtime& runtime, MatrixView<const T> dl,
                                                   MatrixView<const T> d, MatrixView<const T> du, MatrixView<T> b,
                                                   const TridiagonalOptions& options) {
  const auto fits = [&](const MatrixView<const T>& band) {
    return band.rows == b.rows && band.cols == d.cols && (band.cols == 1 || band.cols == b.cols);
  };
  if (options.systems != SystemsIn::columns || options.equilibrate || !fits(dl) || !fits(d) || !fits(du) ||
      !runs_here(runtime, static_cast<double>(b.rows) * static_cast<double>(b.cols), largest_small, dl, d, du, b))
    return std::nullopt;
  const SmallSystems<T> systems{block<In<T>>(dl),
                                block<In<T>>(d),
                                block<In<T>>(du),
                                {options.systems, options.periodic, options.periodic, b.rows}};
  Room<T> x(b.rows, b.cols);
  for (index_t j = 0; j < b.cols; ++j) std::copy_n(b.data + j * b.ld, b.rows, x.numbers.data() + j * b.rows);
  if (systems.solve(x) != 0) return std::nullopt;
  std::vector<SystemResidual<real_t<T>>> misfits;
  const auto right = block<In<T>>(b);
  const Verdict<real_t<T>> verdict = systems.measure(x, right, {}, 0, misfits);
  CheckedSolve solved;
  solved.residual = {static_cast<double>(verdict.backward_error), tridiagonal_residual_bound<T>};
  solved.residual_componentwise = static_cast<double>(verdict.componentwise);
  solved.residual_equilibrated = {solved.residual_componentwise, tridiagonal_equilibrated_bound<T>};
  // The terms of a row are up to 32 times as large as X or B.
  const bool near_largest = std::ranges::any_of(misfits, [](const SystemResidual<real_t<T>>& m) {
    return !(std::max(m.solution, m.right) < std::ldexp(std::numeric_limits<real_t<T>>::max(), -8));
  });
  if (!solved.good() || verdict.open > 0 || near_largest) return std::nullopt;
  const auto bound = dominant_condition(misfits);
  solved.condition = bound ? *bound : systems.probed_condition(x, right);
  for (index_t j = 0; j < b.cols; ++j) std::copy_n(x.numbers.data() + j * b.rows, b.rows, b.data + j * b.ld);
  return solved;
}

TESELA_FUNCTIONS_FOR_NUMBERS(tridiagonal_solve_here)

}  // namespace tesela::detail
