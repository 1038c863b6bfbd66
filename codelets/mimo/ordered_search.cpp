#include <tesela/codelets/mimo/internal/ordered_search_body.hpp>

#include <algorithm>

namespace tesela::kernels {

void OrderedQr::cpu(const Args& args, In<double> r, Out<double> packed) {
  mimo::with_size(args.n, [&]<int N>() {
    mimo::factor_run<N>(r.data, packed, args.first, 0, args.count, args.build == OrderingBuild::prefix);
  });
}

void ListedQr::cpu(const Args&, In<double> r, In<int> orders, Out<double> packed) {
  mimo::with_size(r.rows, [&]<int N>() {
    for (index_t k = 0; k < orders.cols; ++k) {
      double a[N * N], tau[N];
      mimo::factor_from<N>(0, r.data, &orders(1, k), a, tau);
      mimo::store<N>(a, mimo::place_of<double>(packed, k));
    }
  });
}

void GradientOrder::cpu(const Args&, In<double> products, Out<int> picks) {
  for (index_t k = 0; k < products.cols; ++k) mimo::gradient_order(products.rows, &products(0, k), &picks(0, k));
}

void OrderedSearch::cpu(const Args& args, In<double> h, In<double> base, In<double> packed, In<double> x, In<int> picks,
                        In<SearchColumn> columns, In<SearchPoint> points, Out<int> labels, Out<SearchReport> reports) {
  const mimo::OrderedSignals all{args, h, base, packed, x, picks, columns.data, points.data, labels, reports};
  for (index_t k = 0; k < x.cols; ++k) all(k);
}

}  // namespace tesela::kernels
