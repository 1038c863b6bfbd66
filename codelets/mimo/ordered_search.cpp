#include <tesela/codelets/mimo/internal/ordered_search_body.hpp>

namespace tesela::kernels {

void GradientOrder::cpu(const Args&, In<double> products, Out<int> picks) {
  for (index_t k = 0; k < products.cols; ++k) mimo::gradient_order(products.rows, &products(0, k), &picks(0, k));
}

void OrderedSearch::cpu(const Args& args, In<double> h, In<double> base, In<double> packed, In<double> x, In<int> picks,
                        In<SearchColumn> columns, In<SearchPoint> points, Out<int> labels, Out<SearchReport> reports) {
  const mimo::OrderedSignals all{args, h, base, packed, x, picks, columns.data, points.data, labels, reports};
  for (index_t k = 0; k < x.cols; ++k) all(k);
}

}  // namespace tesela::kernels
