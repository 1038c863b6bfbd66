#include "tests/support/simultaneous_equations.hpp"
#include <tesela/algorithms/econometrics/generated_model.hpp>
#include <tesela/tiles/generator.hpp>

using namespace tesela::test;

TEST_CASE("generated rows do not depend on the block size") {
  const ModelSizes sizes{1300, 5, 9, 4, 0.1};
  const GeneratedModel whole = generate_model(sizes, 3);
  const StreamedModel streamed = stream_model(sizes, 3);
  CHECK(streamed.model.names == whole.names);
  CHECK(streamed.model.truth == whole.truth);
  REQUIRE(Shape{streamed.rows.m, streamed.rows.n} == whole.data.shape());
  const Generator<double> X{Pattern::normal, 0, 0, 3};
  for (index_t t = 0; t < 1300; ++t)
    for (index_t k = 1; k < 9; ++k) REQUIRE(whole.data(t, k) == X(t, k));
  for (const index_t first : {0, 1, 700, 1299})
    for (const index_t rows : {0, 1, 600}) {
      const index_t count = std::min(rows, 1300 - first), ld = count + 2;
      std::vector<double> block(static_cast<std::size_t>(ld * 14), -77);
      streamed.rows.read(first, {block.data(), count, 14, ld});
      for (index_t j = 0; j < 14; ++j)
        for (index_t i = 0; i < ld; ++i) {
          const double x = block[static_cast<std::size_t>(i + j * ld)];
          CAPTURE(first, rows, i, j);
          if (i >= count)
            REQUIRE(x == -77);
          else
            REQUIRE(std::abs(x - whole.data(first + i, j)) <= 1e-14 * (1 + std::abs(x)));
        }
    }
}

TEST_CASE("estimates from streamed rows equal estimates from memory") {
  for (const ModelSizes& sizes : {ModelSizes{2500, 6, 230, 9, 0.1}, {3000, 5, 12, 5, 0.1}, {0, 2, 3, 2, 0.1}}) {
    const GeneratedModel m = generate_model(sizes, 5);
    const index_t D = m.data.rows();
    Graph g(runtime());
    const ModelTriangle held = model_triangle(g, m.data.clone());
    for (const index_t rows : {0, 170}) {
      const ModelTriangle streamed = model_triangle(g, rows_of(m.data), rows);
      CHECK(streamed.observations == D);
      for (const SemMethod method : {SemMethod::two_stage, SemMethod::three_stage, SemMethod::ols}) {
        const auto a = estimate(g, held, m.model, {.method = method}),
                   b = estimate(g, streamed, m.model, {.method = method});
        CAPTURE(D, rows, name_of(sem_methods(), method));
        CHECK(a.status == b.status);
        for (std::size_t i = 0; i < a.equations.size(); ++i) {
          if (D == 0) CHECK(b.equations[i].status == EquationStatus::too_few_observations);
          const EquationEstimate &x = a.equations[i], &y = b.equations[i];
          CHECK(apart(x, y, method == SemMethod::two_stage) <= 5e-13);
          if (D > 0 && method == SemMethod::two_stage) {
            CHECK(std::abs(x.sigma / y.sigma - 1) <= 1e-12);
            CHECK(std::abs(x.sargan.statistic / y.sargan.statistic - 1) <= 1e-12);
          }
        }
      }
    }
  }
}
