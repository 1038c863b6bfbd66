#include <tesela/algorithms/econometrics/generated_model.hpp>
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/tiles/generator.hpp>
#include <tesela/tiles/parallel_for.hpp>

#include <algorithm>
#include <cmath>
#include <memory>

namespace tesela {
namespace {

void require(bool good, const char* argument, index_t value, const char* problem) {
  if (!good) throw ArgumentError("generate_model", argument, std::to_string(value) + " " + problem);
}

/// Normal numbers of the Generator for some rows, one column at a time. The loops vectorize except for log and cos.
class NormalColumns {
 public:
  NormalColumns(std::uint64_t seed, index_t first, index_t rows)
      : rows_(static_cast<std::size_t>(rows)), radii_(rows_.size()), angles_(rows_.size()) {
    for (index_t t = 0; t < rows; ++t)
      rows_[static_cast<std::size_t>(t)] = mix(mix(seed) ^ static_cast<std::uint64_t>(first + t));
  }
  void write(index_t column, double* out) {
    const std::size_t n = rows_.size();
    for (std::size_t t = 0; t < n; ++t) {
      const std::uint64_t bits = mix(rows_[t] ^ static_cast<std::uint64_t>(column));
      radii_[t] = (number(bits) + 0.5) * unit;
      angles_[t] = 6.283185307179586 * (number(mix(bits)) * unit);
    }
    for (double& x : radii_) x = std::log(x);
    for (double& x : angles_) x = std::cos(x);
    for (std::size_t t = 0; t < n; ++t) out[t] = std::sqrt(-2 * radii_[t]) * angles_[t];
  }

 private:
  static constexpr double unit = 1.0 / static_cast<double>(std::uint64_t{1} << 53);
  static std::uint64_t mix(std::uint64_t z) { return Generator<double>::mix(z); }
  static double number(std::uint64_t bits) { return static_cast<double>(static_cast<std::int64_t>(bits >> 11)); }

  std::vector<std::uint64_t> rows_;
  std::vector<double> radii_, angles_;
};

/// The rows of Y B = X C + noise U.
struct Rows {
  ModelSizes sizes;
  std::uint64_t seed;
  std::vector<Equation> equations;
  std::vector<std::vector<double>> truth;
  HostMatrix<double> factor;  ///< LU factor of B^T; swaps are its row exchanges
  std::vector<int> swaps;

  void read(index_t first, const Block<double>& out) const {
    constexpr index_t rows_at_once = 512;
    parallel_for(out.rows, rows_at_once, [&](index_t at, index_t end) {
      some_rows(first + at, {&out(at, 0), end - at, out.cols, out.ld});
    });
  }

  void some_rows(index_t first, const Block<double>& out) const {
    const index_t N = sizes.equations, K = sizes.exogenous;
    NormalColumns X(seed, first, out.rows), U(seed + 1, first, out.rows);
    std::fill_n(&out(0, 0), out.rows, 1.0);
    for (index_t k = 1; k < K; ++k) X.write(k, &out(0, k));
    std::vector<double> common(static_cast<std::size_t>(out.rows)), own(common.size());
    U.write(N, common.data());
    HostMatrix<double> right(N, out.rows);  // B^T Y^T = (X C + U)^T
    for (index_t i = 0; i < N; ++i) {
      const Equation& e = equations[static_cast<std::size_t>(i)];
      U.write(i, own.data());
      for (std::size_t t = 0; t < own.size(); ++t)
        right(i, static_cast<index_t>(t)) = sizes.noise * (0.8 * own[t] + 0.6 * common[t]);
      for (std::size_t p = 0; p < e.regressors.size() && e.regressors[p] < K; ++p) {
        const double b = truth[static_cast<std::size_t>(i)][p];
        for (index_t t = 0; t < out.rows; ++t) right(i, t) += b * out(t, e.regressors[p]);
      }
    }
    lapack::getrs(N, out.rows, factor.data(), N, swaps.data(), right.data(), N);
    for (index_t i = 0; i < N; ++i)
      for (index_t t = 0; t < out.rows; ++t) out(t, K + i) = right(i, t);
  }
};

}  // namespace

StreamedModel stream_model(const ModelSizes& sizes, std::uint64_t seed) {
  const index_t D = sizes.observations, N = sizes.equations, K = sizes.exogenous;
  require(D >= 0, "observations", D, "is negative");
  require(N >= 1, "equations", N, "is less than 1");
  require(K >= 1, "exogenous", K, "is less than 1");
  const index_t endogenous = std::min(sizes.included / 2, N - 1), exogenous = sizes.included - endogenous;
  require(exogenous >= 1, "included", sizes.included, "is less than 1");
  require(exogenous <= K, "included", sizes.included, "needs more exogenous variables than the model has");
  GeneratedModel m{{}, {K, 0, {}}, {"(Intercept)"}, {}};
  for (index_t k = 1; k < K; ++k) m.names.push_back(std::string("x").append(std::to_string(k)));
  for (index_t i = 1; i <= N; ++i) m.names.push_back(std::string("y").append(std::to_string(i)));

  const Generator<double> coefficients{Pattern::uniform, 0, 0, seed + 2};
  HostMatrix<double> Bt = HostMatrix<double>::zeros(N, N);
  for (index_t i = 0; i < N; ++i) {
    Equation e{K + i};
    std::vector<double> truth;
    Bt(i, i) = 1;
    for (index_t k = 0; k < exogenous; ++k) {
      const index_t c = k == 0 ? 0 : 1 + (i * (exogenous - 1) + k - 1) % (K - 1);
      const double u = coefficients.uniform(i, c);
      e.regressors.push_back(c);
      truth.push_back(u + std::copysign(0.5, u));
    }
    for (index_t k = 1; k <= endogenous; ++k) {
      const index_t c = (i + k) % N;
      const double b = 0.7 * coefficients.uniform(i, K + c) / std::sqrt(static_cast<double>(endogenous));
      e.regressors.push_back(K + c);
      truth.push_back(b);
      Bt(i, c) = -b;
    }
    m.model.equations.push_back(std::move(e));
    m.truth.push_back(std::move(truth));
  }
  std::vector<int> swaps(static_cast<std::size_t>(N));
  if (lapack::getrf(N, N, Bt.data(), N, swaps.data()) != 0)
    throw ArgumentError("generate_model", "seed", "makes a singular model; use another seed");
  const auto rows =
      std::make_shared<const Rows>(Rows{sizes, seed, m.model.equations, m.truth, std::move(Bt), std::move(swaps)});
  return {std::move(m), {D, K + N, [rows](index_t first, const Block<double>& out) { rows->read(first, out); }}};
}

GeneratedModel generate_model(const ModelSizes& sizes, std::uint64_t seed) {
  StreamedModel s = stream_model(sizes, seed);
  HostMatrix<double>& data = s.model.data;
  data = HostMatrix<double>(s.rows.m, s.rows.n);
  if (data.size() > 0) s.rows.read(0, {data.data(), data.rows(), data.cols(), data.ld()});
  return std::move(s.model);
}

std::string formulas_of(const GeneratedModel& model) {
  std::string text;
  const auto name = [&](index_t c) { return model.names[static_cast<std::size_t>(c)]; };
  for (std::size_t i = 0; i < model.model.equations.size(); ++i) {
    const Equation& e = model.model.equations[i];
    text.append("eq").append(std::to_string(i + 1)).append(": ").append(name(e.dependent)).append(" ~ 1");
    for (const index_t c : e.regressors)
      if (c != 0) text.append(" + ").append(name(c));
    text.append("\n");
  }
  text.append("instruments: ~ 1");
  for (index_t c = 1; c < model.model.instruments; ++c) text.append(" + ").append(name(c));
  return text.append("\n");
}

}  // namespace tesela
