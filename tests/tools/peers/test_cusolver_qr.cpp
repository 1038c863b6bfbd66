#include "tests/support/machine.hpp"
#include "tools/checks/qr_error.hpp"
#include "tools/peers/cusolver_qr.hpp"
#include <tesela/runtime/config.hpp>
#include <tesela/tiles/generator.hpp>

using namespace tesela;

TEMPLATE_TEST_CASE("cuSOLVER's Q can be applied in blocks of reflectors", "[gpu]", float, double) {
  using T = TestType;
  test::require_gpu();
  if constexpr (config::have_cuda) {
    const double eps = std::numeric_limits<T>::epsilon();
    for (const Shape size : {Shape{90, 41}, Shape{40, 40}, Shape{41, 90}})
      for (const index_t at_once : {0, 1, 7, 10, 100}) {
        CAPTURE(size.rows, size.cols, at_once);
        HostMatrix<T> a(size.rows, size.cols), factors(size.rows, size.cols);
        const Generator<T> random{Pattern::uniform, 0, size.cols, 3, size.rows};
        for (index_t j = 0; j < size.cols; ++j)
          for (index_t i = 0; i < size.rows; ++i) a(i, j) = random(i, j);
        const CusolverQr<T> solver(size.rows, size.cols, at_once);
        solver.upload(a.data());
        solver.factor();
        solver.download(factors.data());
        auto q = identity<T>(size.rows, size.rows);
        solver.multiply(Op::none, q.data(), q.cols());
        const QrError error = qr_error(a, factors, q);
        CHECK(error.backward <= 20 * eps);
        CHECK(error.orthogonality <= 200 * eps);
        solver.multiply(Op::transpose, q.data(), q.cols());
        const auto one = identity<T>(size.rows, size.rows);
        for (index_t e = 0; e < q.size(); ++e)
          REQUIRE(std::abs(static_cast<double>(q.data()[e] - one.data()[e])) <= 100 * eps);
      }
  }
}
