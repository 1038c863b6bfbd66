// QR factorization with pivoting of several small matrices at once, one matrix per lane. Guarded by Highway's toggle,
// like vectors_inl.hpp. Internal to codelets/svd.
#include <tesela/codelets/support/internal/vectors_inl.hpp>

#include <limits>
#include <utility>
#include <vector>

#if defined(TESELA_SVD_LANE_REFLECTORS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef TESELA_SVD_LANE_REFLECTORS_INL
#undef TESELA_SVD_LANE_REFLECTORS_INL
#else
#define TESELA_SVD_LANE_REFLECTORS_INL
#endif

HWY_BEFORE_NAMESPACE();
namespace tesela::kernels::HWY_NAMESPACE {
namespace {

/// Sums of squares at or below this number count as zero: their terms underflow.
template <class T>
inline constexpr T no_square = std::numeric_limits<T>::min() / std::numeric_limits<T>::epsilon();

/// Matrices with the same shape, column by column; element (i, j) of all of them is one vector.
template <class T>
class LaneMatrix {
 public:
  LaneMatrix(index_t rows, index_t cols)
      : rows_(rows), cols_(cols), numbers_(static_cast<std::size_t>(rows * cols * lanes<T>)) {}
  index_t rows() const { return rows_; }
  index_t cols() const { return cols_; }
  T* at(index_t i, index_t j) { return numbers_.data() + (i + j * rows_) * lanes<T>; }
  T& operator()(index_t i, index_t j, index_t lane) { return at(i, j)[lane]; }

 private:
  index_t rows_, cols_;
  std::vector<T> numbers_;
};

/// Applies I - tau w w^T, where w begins with a one in place of its first number, to C columns of `rows` rows that are
/// `step` numbers apart. `squares` becomes each column's sum of squares below the first row.
template <int C, class T>
HWY_INLINE void reflect(const T* w, Vec<T> tau, index_t rows, T* columns, index_t step, T* squares) {
  constexpr index_t l = lanes<T>;
  Vec<T> product[C], square[C];
  for (int c = 0; c < C; ++c) product[c] = load(columns + c * step), square[c] = zeros<T>();
  for (index_t i = 1; i < rows; ++i) {
    const Vec<T> weight = load(w + i * l);
    for (int c = 0; c < C; ++c) product[c] = hn::MulAdd(weight, load(columns + c * step + i * l), product[c]);
  }
  for (int c = 0; c < C; ++c) {
    product[c] = hn::Mul(product[c], tau);
    store(columns + c * step, hn::Sub(load(columns + c * step), product[c]));
  }
  for (index_t i = 1; i < rows; ++i) {
    const Vec<T> weight = load(w + i * l);
    for (int c = 0; c < C; ++c) {
      T* const at = columns + c * step + i * l;
      const Vec<T> changed = hn::NegMulAdd(weight, product[c], load(at));
      store(at, changed);
      square[c] = hn::MulAdd(changed, changed, square[c]);
    }
  }
  for (int c = 0; c < C; ++c) store(squares + c * l, square[c]);
}

/// Q R = A P of each lane's matrix, m x n, m >= n.
template <class T>
class LaneQr {
 public:
  /// Without pivoting, P is the identity.
  LaneQr(index_t m, index_t n, bool pivoting)
      : pivoting_(pivoting), a_(m, n), tau_(1, n), squares_(1, m), order_(static_cast<std::size_t>(lanes<T> * n)) {}

  /// Returns A, and after factor() the triangle R and the reflectors below it.
  LaneMatrix<T>& a() { return a_; }
  /// Returns the column of A that became column j.
  index_t column(index_t j, index_t lane) const { return order_[static_cast<std::size_t>(lane * a_.cols() + j)]; }

  HWY_INLINE void factor() {
    const index_t m = a_.rows(), n = a_.cols();
    for (index_t j = 0; j < n; ++j) {
      Vec<T> sum = zeros<T>();
      for (index_t i = 0; i < m; ++i) {
        const Vec<T> x = load(a_.at(i, j));
        sum = hn::MulAdd(x, x, sum);
      }
      store(squares_.at(0, j), sum);
      for (index_t lane = 0; lane < lanes<T>; ++lane) order_[static_cast<std::size_t>(lane * n + j)] = j;
    }
    for (index_t k = 0; k < n; ++k) {
      if (pivoting_) pivot(k);
      make_reflector(k);
      apply(k, a_, k + 1, n);
    }
  }

  /// Writes R^T to `lower`, n x n.
  HWY_INLINE void lower_triangle(LaneMatrix<T>& lower) {
    for (index_t j = 0; j < lower.cols(); ++j)
      for (index_t i = 0; i < lower.rows(); ++i) store(lower.at(i, j), i < j ? zeros<T>() : load(a_.at(j, i)));
  }
  /// Multiplies X, m x any, by Q.
  HWY_INLINE void multiply(LaneMatrix<T>& x) {
    for (index_t k = a_.cols(); k-- > 0;) apply(k, x, 0, x.cols());
  }

 private:
  /// Moves each lane's longest remaining column to place k.
  HWY_INLINE void pivot(index_t k) {
    for (index_t lane = 0; lane < lanes<T>; ++lane) {
      index_t longest = k;
      for (index_t j = k + 1; j < a_.cols(); ++j)
        if (squares_(0, j, lane) > squares_(0, longest, lane)) longest = j;
      if (longest == k) continue;
      for (index_t i = 0; i < a_.rows(); ++i) std::swap(a_(i, k, lane), a_(i, longest, lane));
      std::swap(squares_(0, k, lane), squares_(0, longest, lane));
      index_t* const order = order_.data() + lane * a_.cols();
      std::swap(order[k], order[longest]);
    }
  }

  HWY_INLINE void make_reflector(index_t k) {
    const Vec<T> square = load(squares_.at(0, k)), alpha = load(a_.at(k, k)), zero = zeros<T>();
    const auto live = hn::Gt(square, all(no_square<T>));
    const Vec<T> beta = hn::IfThenElse(live, hn::Neg(hn::CopySign(hn::Sqrt(square), alpha)), alpha),
                 apart = hn::Sub(alpha, beta), inverse = hn::IfThenElse(live, hn::Div(all(T(1)), apart), zero);
    store(tau_.at(0, k), hn::IfThenElse(live, hn::Neg(hn::Div(apart, beta)), zero));
    store(a_.at(k, k), beta);
    for (index_t i = k + 1; i < a_.rows(); ++i) store(a_.at(i, k), hn::Mul(load(a_.at(i, k)), inverse));
  }

  /// Applies reflector k to the columns from … to - 1 of x.
  HWY_INLINE void apply(index_t k, LaneMatrix<T>& x, index_t from, index_t to) {
    const index_t rows = a_.rows() - k, step = a_.rows() * lanes<T>;
    const Vec<T> tau = load(tau_.at(0, k));
    index_t j = from;
    for (; j + 4 <= to; j += 4) reflect<4>(a_.at(k, k), tau, rows, x.at(k, j), step, squares_.at(0, j));
    for (; j < to; ++j) reflect<1>(a_.at(k, k), tau, rows, x.at(k, j), step, squares_.at(0, j));
  }

  bool pivoting_;
  LaneMatrix<T> a_, tau_, squares_;
  std::vector<index_t> order_;
};

}  // namespace
}  // namespace tesela::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
