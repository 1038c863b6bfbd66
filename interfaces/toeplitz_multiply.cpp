#include "interfaces/c/arguments.hpp"
#include <tesela/algorithms/toeplitz/toeplitz.hpp>

#ifdef TESELA_PYTHON
#include "interfaces/python/results.hpp"

namespace tesela::python {
namespace {

/// Returns T x for the symmetric Toeplitz matrix with this first column.
nb::object toeplitz_multiply(const ArrayLike& c_given, const ArrayLike& x_given) {
  const Argument c("c", c_given), x("x", x_given);
  x.require_rows(c.rows());
  return in_precision({&c, &x}, [&]<class T>(T) {
    const HostMatrix<T> column = Columns<T>::on_host(c).copy();
    HostMatrix<T> from = Columns<T>::on_host(x).copy(), product(from.rows(), from.cols());
    with_workers([&](const c::Session& session) {
      Graph g(session);
      const Toeplitz<T> A(g, column);
      const TileShape tile{std::max<index_t>(from.rows(), 1), 16};
      const auto X = MatrixView<T>(from).in_tiles(session, tile, "X"),
                 Y = MatrixView<T>(product).in_tiles(session, tile, "Y");
      A.multiply(g, T(1), T(0), X, T(0), Y);
      g.wait();
      Y.bring_home();
      return 0;
    });
    return to_python_like(x, std::move(product));
  });
}

const Part part([](nb::module_& m) { m.def("_toeplitz_multiply", toeplitz_multiply, "c"_a, "x"_a); });

}  // namespace
}  // namespace tesela::python
#endif
