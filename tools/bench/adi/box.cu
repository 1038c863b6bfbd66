#include "tools/bench/adi/box.hpp"
#include "tools/bench/adi/box_body.hpp"

#include <algorithm>

namespace tesela {
namespace {

constexpr int threads = 128;

/// Neighbouring threads work on neighbouring x, so that accesses coalesce.
template <class F>
__global__ void for_each_point(index_t nx, index_t lines, F f) {
  for (index_t line = blockIdx.y; line < lines; line += gridDim.y)
    for (index_t x = blockIdx.x * index_t{threads} + threadIdx.x; x < nx; x += gridDim.x * index_t{threads}) f(x, line);
}

struct Launch {
  CudaContext& context;
  template <class F>
  void operator()(index_t nx, index_t lines, const F& f) const {
    if (nx == 0 || lines == 0) return;
    const dim3 grid(static_cast<unsigned>(std::min<index_t>(ceil_div(nx, threads), 1024)),
                    static_cast<unsigned>(std::min<index_t>(lines, 32768)));
    for_each_point<<<grid, threads, 0, context.stream()>>>(nx, lines, f);
  }
};

}  // namespace

template <class T>
void BoxLaplace<T>::cuda(CudaContext& context, const Args& args, In<T> before, In<T> u, In<T> after, Out<T> w) {
  Launch{context}(u.rows, u.cols, detail::BoxLaplaceElement<T>{args, before, u, after, w});
}

template <class T>
void BoxLines<T>::cuda(CudaContext& context, const Args& args, Out<T> lines, std::span<const In<T>> planes) {
  detail::box_lines<T>(args, lines, planes, Launch{context});
}

template <class T>
void BoxAddLines<T>::cuda(CudaContext& context, const Args& args, InOut<T> planes, std::span<const In<T>> lines) {
  detail::box_add_lines<T>(args, planes, lines, Launch{context});
}

template struct BoxLaplace<float>;
template struct BoxLaplace<double>;
template struct BoxLines<float>;
template struct BoxLines<double>;
template struct BoxAddLines<float>;
template struct BoxAddLines<double>;

}  // namespace tesela
