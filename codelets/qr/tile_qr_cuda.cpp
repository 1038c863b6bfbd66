#include <tesela/codelets/qr/tile_qr.hpp>

#if TESELA_HAVE_CUDA

#include <tesela/codelets/dense/int8_gemm.hpp>
#include <tesela/codelets/qr/internal/qr_panel.hpp>
#include <tesela/codelets/support/internal/cublas.hpp>
#include <tesela/codelets/support/internal/high_priority_stream.hpp>
#include <tesela/codelets/support/lacpy.hpp>

#include <cuda_runtime_api.h>

#include <memory>
#include <span>

namespace tesela::kernels {
namespace {

constexpr index_t exchange_elements = 33024;  // must equal the value in qr_work

/// Parts of a kernel's scratch: exchange space for panels, two products of at most `product` elements, `vectors`
/// elements of vectors, and the rest for multiply() with this kernel.
template <class T>
struct Space {
  void* exchange;
  T *w, *w2, *v;
  GemmKernel kernel;
  Scratch<double> rest;
  Space(const Block<T>& work, index_t product, index_t vectors, GemmKernel wanted)
      : exchange(work.data),
        w(work.data + exchange_elements),
        w2(w + product),
        v(w2 + product),
        kernel(wanted),
        rest(aligned(v + vectors, work.data + work.rows * work.cols)) {}

 private:
  static Scratch<double> aligned(T* begin, T* end) {
    void* at = begin;
    std::size_t bytes = end > begin ? static_cast<std::size_t>(end - begin) * sizeof(T) : 0;
    if (std::align(256, sizeof(double), at, bytes) == nullptr) return {};
    const auto size = static_cast<index_t>(bytes / sizeof(double));
    return {{static_cast<double*>(at), size, 1, size}};
  }
};

/// Vectors with explicit zeros and ones, and the rows (from the right: columns) of C that they change.
template <class T>
struct Factor {
  const T* v;
  index_t ldv, rows;
  T* c;
  index_t ldc;
};

/// Computes C = op(Q) C or C op(Q) for Q = I - V T V^H with k vectors, T upper triangular with zeros below; `free` is
/// C's other dimension. V consists of the factors stacked under each other, under an identity on `top` if that is not
/// null.
template <class T>
void apply_reflector(CudaContext& context, Side side, Op op, index_t k, index_t free, const T* t, index_t ldt,
                     const Block<T>* top, std::span<const Factor<T>> factors, const Space<T>& space) {
  if (k == 0 || free == 0) return;
  const auto gemm = [&](Op a, Op b, index_t m, index_t n, index_t inner, T alpha, const T* x, index_t ldx, const T* y,
                        index_t ldy, T beta, T* z, index_t ldz) {
    // One modulus more than a usual product: rows of V have norms of about 1 with elements of 1 / sqrt(m), and the rows
    // of the other operand decay with the singular values of A.
    constexpr int moduli = sizeof(T) == sizeof(double) ? 15 : moduli_for(sizeof(T));
    multiply<T>(context, space.kernel, {a, b, m, n, inner, alpha, x, ldx, y, ldy, beta, z, ldz}, space.rest, moduli);
  };
  const bool left = side == Side::left;
  const index_t ldw = left ? k : free;
  T beta = 0;
  if (top != nullptr) {
    const Block<T> w{space.w, top->rows, top->cols, ldw};
    context.check(lacpy<T>(context.stream(), Part::all, 0, {top->data, top->rows, top->cols, top->ld}, w), "copy of C");
    beta = 1;
  }
  for (const Factor<T>& f : factors) {
    if (f.rows == 0) continue;
    if (left)
      gemm(adjoint<T>, Op::none, k, free, f.rows, 1, f.v, f.ldv, f.c, f.ldc, beta, space.w, ldw);
    else
      gemm(Op::none, Op::none, free, k, f.rows, 1, f.c, f.ldc, f.v, f.ldv, beta, space.w, ldw);
    beta = 1;
  }
  if (left)
    gemm(op, Op::none, k, free, k, 1, t, ldt, space.w, ldw, 0, space.w2, ldw);
  else
    gemm(Op::none, op, free, k, k, 1, space.w, ldw, t, ldt, 0, space.w2, ldw);
  if (top != nullptr) context.check(subtract(context.stream(), *top, space.w2, ldw), "update of C");
  for (const Factor<T>& f : factors) {
    if (f.rows == 0) continue;
    if (left)
      gemm(Op::none, Op::none, f.rows, free, k, -1, f.v, f.ldv, space.w2, ldw, 1, f.c, f.ldc);
    else
      gemm(Op::none, adjoint<T>, free, f.rows, k, -1, space.w2, ldw, f.v, f.ldv, 1, f.c, f.ldc);
  }
}

/// Sets the leading rows of a matrix to zero.
template <class T>
void clear(const CudaContext& context, T* a, index_t lda, index_t rows, index_t cols) {
  if (rows == 0 || cols == 0) return;
  context.check(
      cudaMemset2DAsync(a, static_cast<std::size_t>(lda) * sizeof(T), 0, static_cast<std::size_t>(rows) * sizeof(T),
                        static_cast<std::size_t>(cols), context.stream()),
      "cudaMemset2D");
}

/// Factors a block of columns by halves until a half fits the panel kernel (Elmroth and Gustavson, "Applying recursion
/// to serial and parallel QR factorization leads to better performance"). The left half's reflector is applied to the
/// right half, and T12 = -T1 V1^H V2 T2 joins their T.
template <class T>
class Recursion {
 public:
  /// `a` holds the block's columns: A from its first row on, or B. `r` holds the columns of R from its first row on,
  /// unless the form is trapezoid. v has as many rows and is zero where no panel writes; t, the block's factor, is
  /// zero.
  Recursion(CudaContext& context, PanelForm form, const Block<T>& a, const Block<T>& r, const Block<T>& v,
            const Block<T>& t, index_t above, const Space<T>& space)
      : context_(context), form_(form), a_(a), r_(r), v_(v), t_(t), above_(above), space_(space) {}

  bool factor(index_t begin, index_t cols, unsigned& epoch) const {
    const index_t width = panel_width<T>(rows_of(begin, begin + cols));
    if (width == 0) return context_.check(cudaErrorInvalidValue, "geqrt of a tile with too many rows");
    if (cols <= width) return panel(begin, cols, epoch);
    const index_t left = ceil_div(ceil_div(cols, width), 2) * width, right = cols - left, middle = begin + left;
    if (!factor(begin, left, epoch)) return false;
    apply(begin, left, middle, right);
    if (!factor(middle, right, epoch)) return false;
    join(begin, left, middle, right);
    return true;
  }

  /// Applies Q^H of the vectors in columns begin … begin + k to the `cols` columns from `column` on.
  void apply(index_t begin, index_t k, index_t column, index_t cols) const {
    const index_t first = form_ == PanelForm::trapezoid ? begin : 0;
    const Factor<T> f{&v_(first, begin), v_.ld, rows_of(begin, begin + k), &a_(first, column), a_.ld};
    const Block<T> top{form_ == PanelForm::trapezoid ? nullptr : &r_(begin, column), k, cols, r_.ld};
    apply_reflector<T>(context_, Side::left, adjoint<T>, k, cols, &t_(begin, begin), t_.ld,
                       form_ == PanelForm::trapezoid ? nullptr : &top, {&f, 1}, space_);
  }

 private:
  /// Returns the rows of a that the columns begin … end change.
  index_t rows_of(index_t begin, index_t end) const {
    if (form_ == PanelForm::trapezoid) return a_.rows - begin;
    return form_ == PanelForm::square ? a_.rows : std::min(a_.rows, above_ + end);
  }

  bool panel(index_t begin, index_t cols, unsigned& epoch) const {
    const index_t first = form_ == PanelForm::trapezoid ? begin : 0;
    Panel<T> p;
    p.form = form_;
    p.rows = rows_of(begin, begin + cols);
    p.cols = cols;
    p.a = &a_(first, begin);
    p.lda = a_.ld;
    if (form_ != PanelForm::trapezoid) {
      p.r = &r_(begin, begin);
      p.ldr = r_.ld;
    }
    p.above = above_ + begin;
    p.v = &v_(first, begin);
    p.ldv = v_.ld;
    p.t = &t_(begin, begin);
    p.ldt = t_.ld;
    return context_.check(factor_panel(context_.stream(), p, space_.exchange, epoch), "geqrt panel");
  }

  void join(index_t begin, index_t left, index_t middle, index_t right) const {
    const index_t first = form_ == PanelForm::trapezoid ? middle : 0, rows = rows_of(begin, middle),
                  common = form_ == PanelForm::trapezoid ? rows - left : rows;
    const auto gemm = [&](Op op, index_t inner, T alpha, const T* x, index_t ldx, const T* y, index_t ldy, T* z,
                          index_t ldz) {
      context_.check(
          cublas::gemm(context_.cublas(), op, Op::none, left, right, inner, alpha, x, ldx, y, ldy, T(0), z, ldz),
          "gemm of block factors");
    };
    gemm(adjoint<T>, common, 1, &v_(first, begin), v_.ld, &v_(first, middle), v_.ld, space_.w, left);
    gemm(Op::none, left, -1, &t_(begin, begin), t_.ld, space_.w, left, space_.w2, left);
    gemm(Op::none, right, 1, space_.w2, left, &t_(middle, middle), t_.ld, &t_(begin, middle), t_.ld);
  }

  CudaContext& context_;
  PanelForm form_;
  Block<T> a_, r_, v_, t_;
  index_t above_;
  Space<T> space_;
};

template <class T>
Block<T> part(const Block<T>& a, index_t row, index_t col, index_t rows, index_t cols) {
  return {a.data + row + col * a.ld, rows, cols, a.ld};
}

/// Calls f(first column, columns) for the inner blocks of k columns.
template <class F>
void for_each_block(index_t k, index_t ib, bool forward, F f) {
  const index_t blocks = ceil_div(k, ib);
  for (index_t i = 0; i < blocks; ++i) {
    const index_t b = (forward ? i : blocks - 1 - i) * ib;
    f(b, std::min(ib, k - b));
  }
}

/// Prepares a task's scratch and T for panels.
template <class T>
Space<T> prepare(const CudaContext& context, const Block<T>& work, const Block<T>& t, index_t product, index_t vectors,
                 GemmKernel kernel = GemmKernel::cublas) {
  const Space<T> space(work, product, vectors, kernel);
  context.check(cudaMemsetAsync(space.exchange, 0, panel_exchange_bytes<T>(), context.stream()), "cudaMemset");
  clear(context, t.data, t.ld, t.rows, t.cols);
  return space;
}

}  // namespace

template <class T>
void Geqrt<T>::cuda(CudaContext& context, const Args& args, InOut<T> a, Out<T> t, Scratch<T> work) {
  const HighPriorityStream stream(context);
  const index_t m = a.rows - args.row, k = std::min(m, args.width);
  const Space<T> space = prepare<T>(context, work, t, args.width * std::max(a.cols, args.width), m * k, args.kernel);
  const Block<T> v{space.v, m, k, m};
  clear(context, v.data, m, k, k);
  unsigned epoch = 0;
  for_each_block(k, args.ib, true, [&](index_t b, index_t kb) {
    const index_t rest = a.cols - args.col - b;
    const Recursion<T> block(context, PanelForm::trapezoid, part<T>(a, args.row + b, args.col + b, m - b, rest), {},
                             part(v, b, b, m - b, kb), part<T>(t, 0, b, kb, kb), 0, space);
    if (block.factor(0, kb, epoch)) block.apply(0, kb, kb, rest - kb);
  });
}

template <class T>
void Tpqrt<T>::cuda(CudaContext& context, const Args& args, InOut<T> a, InOut<T> b, Out<T> t, Scratch<T> work) {
  const HighPriorityStream stream(context);
  const index_t m = height(args, b.rows), n = args.width;
  const Space<T> space = prepare<T>(context, work, t, n * std::max(b.cols, n), m * n);
  const Block<T> v{space.v, m, n, m};
  if (args.triangle) clear(context, v.data, m, m, n);
  unsigned epoch = 0;
  for_each_block(n, args.ib, true, [&](index_t first, index_t kb) {
    const index_t col = args.col + first, rest = b.cols - col;
    const Recursion<T> block(context, args.triangle ? PanelForm::triangle : PanelForm::square,
                             part<T>(b, 0, col, m, rest), part<T>(a, args.row + first, col, kb, rest),
                             part(v, 0, first, m, kb), part<T>(t, 0, first, kb, kb), first, space);
    if (block.factor(0, kb, epoch)) block.apply(0, kb, kb, rest - kb);
  });
}

template <class T>
void Unmqr<T>::cuda(CudaContext& context, const Args& args, In<T> v, In<T> t, InOut<T> c, Scratch<T> work) {
  const bool left = args.side == Side::left;
  const index_t m = v.rows - args.row, k = std::min(m, args.width), free = left ? c.cols : c.rows;
  const Space<T> space(work, args.width * std::max(free, args.width), k * k, args.kernel);
  for_each_block(k, args.ib, left == (args.op != Op::none), [&](index_t b, index_t kb) {
    const T* const vb = &v(args.row + b, args.col + b);
    const auto target = [&](index_t i) { return left ? &c(args.row + b + i, 0) : &c(0, args.row + b + i); };
    if (args.unit_lower) {
      const Factor<T> whole{vb, v.ld, m - b, target(0), c.ld};
      apply_reflector<T>(context, args.side, args.op, kb, free, &t(0, b), t.ld, nullptr, {&whole, 1}, space);
      return;
    }
    const Block<T> head{space.v, kb, kb, kb};
    context.check(lacpy<T>(context.stream(), Part::unit_lower, 0, {vb, kb, kb, v.ld}, head), "copy of V");
    const Factor<T> factors[] = {{head.data, kb, kb, target(0), c.ld}, {vb + kb, v.ld, m - b - kb, target(kb), c.ld}};
    apply_reflector<T>(context, args.side, args.op, kb, free, &t(0, b), t.ld, nullptr, factors, space);
  });
}

template <class T>
void Tpmqrt<T>::cuda(CudaContext& context, const Args& args, In<T> v, In<T> t, InOut<T> c1, InOut<T> c2,
                     Scratch<T> work) {
  const bool left = args.side == Side::left;
  const index_t m = args.triangle ? std::min(v.rows, args.width) : v.rows, free = left ? c1.cols : c1.rows;
  const Space<T> space(work, args.width * std::max(free, args.width), m * args.width, GemmKernel::cublas);
  Block<const T> vectors{&v(0, args.col), m, args.width, v.ld};
  if (args.triangle) {
    const Block<T> copy{space.v, m, args.width, m};
    context.check(lacpy<T>(context.stream(), Part::upper, 0, vectors, copy), "copy of V");
    vectors = {copy.data, m, args.width, m};
  }
  for_each_block(args.width, args.ib, left == (args.op != Op::none), [&](index_t b, index_t kb) {
    const Factor<T> f{&vectors(0, b), vectors.ld, args.triangle ? std::min(m, b + kb) : m, c2.data, c2.ld};
    const Block<T> top{left ? &c1(args.row + b, 0) : &c1(0, args.row + b), left ? kb : free, left ? free : kb, c1.ld};
    apply_reflector<T>(context, args.side, args.op, kb, free, &t(0, b), t.ld, &top, {&f, 1}, space);
  });
}

#define TESELA_QR_KERNELS(T)                                                                       \
  template void Geqrt<T>::cuda(CudaContext&, const Args&, InOut<T>, Out<T>, Scratch<T>);           \
  template void Unmqr<T>::cuda(CudaContext&, const Args&, In<T>, In<T>, InOut<T>, Scratch<T>);     \
  template void Tpqrt<T>::cuda(CudaContext&, const Args&, InOut<T>, InOut<T>, Out<T>, Scratch<T>); \
  template void Tpmqrt<T>::cuda(CudaContext&, const Args&, In<T>, In<T>, InOut<T>, InOut<T>, Scratch<T>);
TESELA_FOR_NUMBERS(TESELA_QR_KERNELS)

}  // namespace tesela::kernels

#endif
