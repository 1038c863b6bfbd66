// The kernels that a user's loop inserts. A kernel's declaration states which tiles it reads and writes; shapes are
// checked here, since a task cannot report them.
#include "interfaces/python/tiles.hpp"
#include <tesela/codelets/dense/cholesky.hpp>
#include <tesela/codelets/dense/gemm.hpp>
#include <tesela/codelets/qr/tile_qr.hpp>

namespace tesela::python {
namespace {

Op op_of(bool transpose) { return transpose ? Op::transpose : Op::none; }

void require(bool fits, const char* kernel, const char* what) {
  if (!fits) throw nb::value_error((std::string(kernel) + ": " + what).c_str());
}

/// Number of columns that a step of QR factors.
index_t width_of(const TileObject& v) { return std::min(v.shape().rows, v.shape().cols); }

/// Returns the inner block size for a tile t of block factors and this number of columns.
index_t block_of(const char* kernel, const TileObject& t, index_t width) {
  require(t.shape().rows >= 1 && t.shape().cols >= width, kernel, "t must have a column for each factored column");
  return std::max<index_t>(1, std::min(t.shape().rows, width));
}

template <class T>
Tile<T> qr_scratch(Graph& g, index_t width, index_t across, index_t rows) {
  const Shape shape = kernels::qr_work(width, across, rows, g.runtime().gpus() > 0);
  return g.scratch<T>(shape.rows, shape.cols);
}

void gemm(GraphObject& graph, const TileObject& a, const TileObject& b, const TileObject& c, double alpha, double beta,
          Flag trans_a, Flag trans_b, int priority) {
  const Op op_a = op_of(trans_a), op_b = op_of(trans_b);
  const Shape sa = apply(op_a, a.shape()), sb = apply(op_b, b.shape()), sc = c.shape();
  require(sa.rows == sc.rows && sb.cols == sc.cols && sa.cols == sb.rows, "gemm", "shapes do not fit");
  graph.insert(a, [&]<class T>(Graph& g, T) {
    g.insert<kernels::Gemm<T>>(Priority{priority}, {op_a, op_b, static_cast<T>(alpha), static_cast<T>(beta)}, a.in<T>(),
                               b.in<T>(), c.in<T>());
  });
}

void trsm(GraphObject& graph, const TileObject& r, const TileObject& x, Flag trans, int priority) {
  require(r.shape().rows == r.shape().cols && r.shape().cols == x.shape().rows, "trsm",
          "r must be square, and as high as x");
  graph.insert(r, [&]<class T>(Graph& g, T) {
    g.insert<kernels::Trsm<T>>(Priority{priority}, {op_of(trans)}, r.in<T>(), x.in<T>());
  });
}

void potrf(GraphObject& graph, const TileObject& a, int priority) {
  require(a.shape().rows == a.shape().cols, "potrf", "a must be square");
  graph.insert(a, [&]<class T>(Graph& g, T) {
    g.insert<kernels::Potrf<T>>(Priority{priority}, {a.first_row}, a.in<T>(), graph.minor());
  });
}

void geqrt(GraphObject& graph, const TileObject& a, const TileObject& t, int priority) {
  const Shape s = a.shape();
  const index_t width = width_of(a), ib = block_of("geqrt", t, width);
  graph.insert(a, [&]<class T>(Graph& g, T) {
    g.insert<kernels::Geqrt<T>>(Priority{priority}, {0, 0, width, ib, s.rows}, a.in<T>(), t.in<T>(),
                                qr_scratch<T>(g, width, s.cols, s.rows));
  });
}

void unmqr(GraphObject& graph, const TileObject& v, const TileObject& t, const TileObject& c, Flag trans,
           int priority) {
  const Shape s = v.shape();
  const index_t width = width_of(v), ib = block_of("unmqr", t, width);
  require(c.shape().rows == s.rows, "unmqr", "c must be as high as v");
  graph.insert(v, [&]<class T>(Graph& g, T) {
    g.insert<kernels::Unmqr<T>>(Priority{priority}, {Side::left, op_of(trans), 0, 0, width, ib, s.rows}, v.in<T>(),
                                t.in<T>(), c.in<T>(), qr_scratch<T>(g, width, c.shape().cols, s.rows));
  });
}

void tpqrt(GraphObject& graph, const TileObject& r, const TileObject& b, const TileObject& t, int priority) {
  const Shape s = b.shape();
  const index_t width = width_of(r), ib = block_of("tpqrt", t, width);
  require(r.shape().cols == s.cols, "tpqrt", "r and b must have as many columns");
  graph.insert(r, [&]<class T>(Graph& g, T) {
    g.insert<kernels::Tpqrt<T>>(Priority{priority}, {0, 0, width, ib}, r.in<T>(), b.in<T>(), t.in<T>(),
                                qr_scratch<T>(g, width, s.cols, s.rows));
  });
}

void tpmqrt(GraphObject& graph, const TileObject& v, const TileObject& t, const TileObject& c1, const TileObject& c2,
            Flag trans, int priority) {
  const Shape s = v.shape();
  const index_t width = std::min(s.cols, c1.shape().rows), ib = block_of("tpmqrt", t, width);
  require(c2.shape().rows == s.rows && c1.shape().cols == c2.shape().cols, "tpmqrt",
          "c2 must be as high as v, and c1 as wide as c2");
  graph.insert(v, [&]<class T>(Graph& g, T) {
    g.insert<kernels::Tpmqrt<T>>(Priority{priority}, {Side::left, op_of(trans), 0, 0, width, ib}, v.in<T>(), t.in<T>(),
                                 c1.in<T>(), c2.in<T>(), qr_scratch<T>(g, width, c1.shape().cols, s.rows));
  });
}

}  // namespace

void add_kernels(nb::class_<GraphObject>& graph) {
  graph
      .def("gemm", gemm, "a"_a, "b"_a, "c"_a, nb::kw_only(), "alpha"_a = 1.0, "beta"_a = 1.0, "trans_a"_a = false,
           "trans_b"_a = false, "priority"_a = 0, "c = alpha op(a) op(b) + beta c.")
      .def("trsm", trsm, "r"_a, "x"_a, nb::kw_only(), "trans"_a = false, "priority"_a = 0,
           "x = op(r)^-1 x with r upper triangular.")
      .def("potrf", potrf, "a"_a, nb::kw_only(), "priority"_a = 0,
           "a = r' r: r overwrites the upper triangle. `wait` reports a minor that is not positive.")
      .def("geqrt", geqrt, "a"_a, "t"_a, nb::kw_only(), "priority"_a = 0,
           "a = q r: r above, vectors below the diagonal; t, with as many rows as a block has columns, receives the "
           "block factors.")
      .def("unmqr", unmqr, "v"_a, "t"_a, "c"_a, nb::kw_only(), "trans"_a = true, "priority"_a = 0,
           "c = q' c, or q c, with q from `geqrt`.")
      .def("tpqrt", tpqrt, "r"_a, "b"_a, "t"_a, nb::kw_only(), "priority"_a = 0,
           "[r; b] = q [r; 0] with r upper triangular: the vectors overwrite b.")
      .def("tpmqrt", tpmqrt, "v"_a, "t"_a, "c1"_a, "c2"_a, nb::kw_only(), "trans"_a = true, "priority"_a = 0,
           "[c1; c2] = q' [c1; c2], or q [c1; c2], with q from a `tpqrt` whose b is v.");
}

}  // namespace tesela::python
