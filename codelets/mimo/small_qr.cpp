#include <tesela/codelets/mimo/internal/small_qr_subwarp_body.hpp>

#include <vector>

namespace tesela::kernels {

template <class F>
index_t SmallQr<F>::work_size(ColumnOrder order, index_t m, index_t n) {
  return mimo::lanes_factor(order, m, n) ? 0 : mimo::SmallQrMatrix<typename mimo::NumberFor<F>::type>::work_size(m, n);
}

template <class F>
void SmallQr<F>::cpu(const Args& args, InOut<F> a, InOut<F> b, Out<F> tau, Out<int> order, Out<int> info, Scratch<F>) {
  const index_t numbers = mimo::SmallQrMatrix<typename mimo::NumberFor<F>::type>::work_size(a.rows, args.cols);
  std::vector<F> work(static_cast<std::size_t>(numbers));
  for (index_t k = 0; k < info.cols; ++k)
    mimo::one_qr<F>(args, Block<F>(a), Block<F>(b), Block<F>(tau), Block<int>(order), Block<int>(info), work.data(),
                    k)();
}

TESELA_STRUCTS_FOR_NUMBERS(SmallQr)

}  // namespace tesela::kernels
