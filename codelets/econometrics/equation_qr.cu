#include <tesela/codelets/econometrics/internal/equation_device.cuh>
#include <tesela/codelets/econometrics/internal/equation_lower.hpp>
#include <tesela/codelets/econometrics/internal/equation_space.hpp>
#include <tesela/codelets/support/internal/each.cuh>
#include <tesela/codelets/support/lacpy.hpp>

#include <algorithm>

namespace tesela::kernels {
namespace equation {
namespace {

struct Gather {
  DeviceSelectedColumns picks;
  const double* a;
  index_t lda;
  double* z;
  index_t ldz;
  __device__ void operator()(index_t i, index_t p) const {
    const int* const pick = picks.at(0, p);
    z[i + p * ldz] = i < pick[1] ? a[i + pick[0] * lda] : 0.0;
  }
};

struct TransposeUpper {
  const double* z;
  index_t ldz;
  double* l;
  index_t n;
  __device__ void operator()(index_t i, index_t j) const { l[i + j * n] = i < j ? 0.0 : z[j + i * ldz]; }
};

struct Identity {
  double* q;
  index_t ld;
  __device__ void operator()(index_t i, index_t j) const { q[i + j * ld] = i == j ? 1.0 : 0.0; }
};

/// Calls f(first column, columns, rows from the first column's on, work space) for each panel.
template <class F>
void for_each_panel(const Space& space, const EquationPanels& panels, index_t r, bool forward, const F& f) {
  const index_t count = ceil_div(r, space.width);
  for (index_t i = 0; i < count; ++i) {
    const index_t k = forward ? i : count - 1 - i, p = k * space.width;
    f(p, std::min(space.width, r - p), panels.rows[static_cast<std::size_t>(k)] - p);
  }
}

/// Replaces columns 0 ... r - 1 of z by R and Householder vectors, and multiplies the other columns by Q^T.
void factor_panels(CudaContext& context, const Space& space, const EquationPanels& panels, index_t r,
                   const Block<double>& z) {
  for_each_panel(space, panels, r, true, [&](index_t p, index_t w, index_t rows) {
    Geqrt<double>::cuda(context, {0, 0, w, w, rows}, InOut<double>{{&z(p, p), rows, z.cols - p, z.ld}},
                        Out<double>{{space.t + p * space.width, space.width, w, space.width}},
                        Scratch<double>{{space.panels, space.panel.rows, space.panel.cols, space.panel.rows}});
  });
}

}  // namespace
}  // namespace equation

void EquationQr::cuda(CudaContext& context, const Args& args, In<double> a, In<int> picks, Out<double> facts,
                      Out<double> residual, Scratch<double> work) {
  using namespace equation;
  const index_t r = picks.cols - 2;
  if (r == 0) return;
  const Space space(work.data, args.rows, r);
  const Block<double> z{space.z, args.rows, r + 1, args.rows};
  const DeviceFacts f{facts.data, facts.ld};
  kernels::internal::each(context, z.rows, z.cols, Gather{{picks.data, r}, a.data, a.ld, z.data, z.ld});
  factor_panels(context, space, args.panels, r, z);
  kernels::internal::each(context, r, r, TransposeUpper{z.data, z.ld, space.l, r});
  const Lowers m{r, 1, space.l, space.y};
  solve(context, m, &z(0, r), r, f);
  invert(context, m);
  times(context, m, nullptr, false, f);
  residuals(context, m, a, picks.data, f, residual);
  state(context, m, picks.data, &z(0, r), nullptr, space.vectors, f);
  context.check(cudaGetLastError(), "the launch of equation_qr");
}

void EquationBasis::cuda(CudaContext& context, const Args& args, In<double> a, In<int> picks, Out<double> q,
                         Out<double> r, Scratch<double> work) {
  using namespace equation;
  const index_t n = r.cols;
  if (n == 0) return;
  const Space space(work.data, q.rows, n);
  const Block<double> z{space.z, q.rows, n, q.rows};
  kernels::internal::each(context, z.rows, n, Gather{{picks.data, n}, a.data, a.ld, z.data, z.ld});
  factor_panels(context, space, args.panels, n, z);
  context.check(lacpy<double>(context.stream(), Part::upper, 0, {z.data, n, n, z.ld}, r), "copy of R");
  kernels::internal::each(context, q.rows, n, Identity{q.data, q.ld});
  for_each_panel(space, args.panels, n, false, [&](index_t p, index_t w, index_t rows) {
    Unmqr<double>::cuda(context, {Side::left, Op::none, 0, 0, w, w, rows, false}, In<double>{{&z(p, p), rows, w, z.ld}},
                        In<double>{{space.t + p * space.width, space.width, w, space.width}},
                        InOut<double>{{&q(p, p), rows, n - p, q.ld}},
                        Scratch<double>{{space.panels, space.panel.rows, space.panel.cols, space.panel.rows}});
  });
  context.check(cudaGetLastError(), "the launch of equation_basis");
}

}  // namespace tesela::kernels
