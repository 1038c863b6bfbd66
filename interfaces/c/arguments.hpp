#pragma once

#include "interfaces/c/process.hpp"
#include <tesela/algorithms/support/solution.hpp>
#include <tesela/runtime/scalar.hpp>
#include <tesela/tiles/matrix_view.hpp>
#include <tesela/tiles/size_checks.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <initializer_list>
#include <limits>
#include <string>
#include <type_traits>

namespace tesela::c {

/// Throws WrongArgument for the first negative size.
inline void require_sizes(std::initializer_list<std::pair<const char*, index_t>> sizes) {
  for (const auto& [name, value] : sizes)
    if (value < 0) throw WrongArgument(name, std::to_string(value) + " is negative");
}

inline std::string in_quotes(char c) { return std::string(1, '\'').append(printable({&c, 1})).append(1, '\''); }

/// Returns the operation for 'N', 'T' or 'C', in either case, as in BLAS.
template <class T>
Op operation(const char* name, char c) {
  if (c == 'N' || c == 'n') return Op::none;
  if (c == 'T' || c == 't') return Op::transpose;
  if (c == 'C' || c == 'c') return adjoint<T>;
  throw WrongArgument(name, in_quotes(c) + " is none of 'N', 'T' and 'C'");
}

/// Returns whether c is `yes`, in either case; throws WrongArgument unless it is `yes` or `no`.
inline bool choice(const char* name, char c, char yes, char no) {
  const char upper = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  if (upper != yes && upper != no)
    throw WrongArgument(name, in_quotes(c) + " is neither " + in_quotes(yes) + " nor " + in_quotes(no));
  return upper == yes;
}

/// Throws WrongArgument unless c names the only triangle that the routine can read.
inline void require_triangle(const char* name, char c, char only) {
  if (choice(name, c, 'U', 'L') != (only == 'U'))
    throw WrongArgument(name, in_quotes(c) + ": this routine reads the triangle " + in_quotes(only) +
                                  "; of a whole symmetric matrix that will do");
}

/// Throws WrongArgument if a parameter for one number is null.
template <class P>
void require_pointer(const char* name, P* pointer) {
  if (pointer == nullptr) throw WrongArgument(name, "null");
}

/// Throws WrongArgument if an element is NaN or infinite.
template <class T>
void require_finite(const char* name, const T* a, index_t n) {
  for (index_t i = 0; i < n; ++i)
    if (!is_finite(a[i])) throw WrongArgument(name, "element " + std::to_string(i) + " is not finite");
}

/// Eigenvalues of finite matrices may exceed T's range.
inline constexpr const char* overflow = "overflow: an eigenvalue is larger than the largest number";
template <class T>
bool overflows(const T* values, index_t n) {
  return std::any_of(values, values + n, [](T value) { return !std::isfinite(value); });
}

/// A caller's matrix and the name of its parameter.
template <class T>
struct Array : MatrixView<T> {
  using typename MatrixView<T>::value_type;
  using MatrixView<T>::data, MatrixView<T>::rows, MatrixView<T>::cols, MatrixView<T>::ld;
  const char* name;

  /// Throws WrongArgument if ld is below max(1, rows) or exceeds 32 bits, if the matrix exceeds the address space, and
  /// if a non-empty matrix is null.
  Array(const char* parameter, T* a, Shape shape, const char* ld_name, index_t lda)
      : MatrixView<T>(a, shape, lda), name(parameter) {
    const index_t least = std::max<index_t>(rows, 1), most = std::numeric_limits<std::uint32_t>::max();
    if (ld < least)
      throw WrongArgument(ld_name, std::to_string(ld) + " is less than the " + std::to_string(least) + " of " + name);
    if (cols <= 1) ld = least;  // with one column, ld is not used
    check();
    if (ld > most) throw WrongArgument(ld_name, std::to_string(ld) + " is more than " + std::to_string(most));
  }
  /// A vector of n elements.
  Array(const char* parameter, T* a, index_t n) : MatrixView<T>(a, {n, 1}, std::max<index_t>(n, 1)), name(parameter) {
    check();
  }
  /// A matrix that is an argument only if `wanted`; otherwise nothing about it is checked.
  static Array if_wanted(bool wanted, const char* name, T* a, Shape shape, const char* ld_name, index_t lda) {
    return {name, a, wanted ? shape : Shape{0, 0}, ld_name, wanted ? lda : 1};
  }

  /// Returns the first `count` rows.
  Array top(index_t count) const {
    Array part = *this;
    part.rows = std::min(count, rows);
    return part;
  }

  HostMatrix<value_type> copy() const {
    HostMatrix<value_type> h(rows, cols);
    for (index_t j = 0; j < cols; ++j) std::copy_n(data + j * ld, rows, h.data() + j * h.ld());
    return h;
  }
  /// Copies a matrix of at most this shape to the upper left corner.
  void take(const HostMatrix<value_type>& h) const {
    for (index_t j = 0; j < h.cols(); ++j) std::copy_n(h.data() + j * h.ld(), h.rows(), data + j * ld);
  }

 private:
  void check() const {
    const auto bytes = saturating_mul(elements_of({ld, cols}), sizeof(T));
    if (bytes > static_cast<std::uint64_t>(std::numeric_limits<std::ptrdiff_t>::max() / 2))
      throw WrongArgument(name, to_string(Shape{ld, cols}) + " does not fit the address space");
    if (data == nullptr && rows > 0 && cols > 0) throw WrongArgument(name, "null");
  }
};

/// The bytes of an array: `columns` runs of `bytes` each, `step` bytes apart.
struct Memory {
  const char* name;
  std::uintptr_t begin;
  index_t bytes, columns, step;

  template <class T>
  Memory(const Array<T>& a)
      : name(a.name),
        begin(reinterpret_cast<std::uintptr_t>(a.data)),
        bytes(a.rows * index_t{sizeof(T)}),
        columns(bytes > 0 ? a.cols : 0),
        step(a.ld * index_t{sizeof(T)}) {}

  /// Returns whether the arrays share a byte. The gaps between the columns of one array may hold the other.
  bool meets(const Memory& other) const {
    if (columns == 0 || other.columns == 0) return false;
    if (columns > other.columns) return other.meets(*this);
    const auto before = static_cast<index_t>(begin - other.begin);
    // Column j of this and k of the other overlap if k other.step is above before + j step - other.bytes and below
    // before + j step + bytes. With equal steps only k - j matters.
    const auto floor_div = [](index_t x, index_t by) { return x >= 0 ? x / by : -((by - 1 - x) / by); };
    const auto multiple = [&](index_t distance, index_t low, index_t high, index_t by) {
      return std::max(floor_div(distance - other.bytes, by) + 1, low) <=
             std::min(floor_div(distance + bytes - 1, by), high);
    };
    if (before + (columns - 1) * step + bytes <= 0 || before >= (other.columns - 1) * other.step + other.bytes)
      return false;
    if (step == other.step) return multiple(before, 1 - columns, other.columns - 1, step);
    for (index_t j = 0; j < columns; ++j)
      if (multiple(before + j * step, 0, other.columns - 1, other.step)) return true;
    return false;
  }
};

/// Throws WrongArgument if a written argument overlaps another written or a read one. `A` is Memory or Tiles<T>.
template <class A = Memory>
void require_no_overlap(std::type_identity_t<std::initializer_list<A>> written,
                        std::type_identity_t<std::initializer_list<A>> read = {}) {
  const auto require = [](const A& a, const A& b) {
    if (a.meets(b)) throw WrongArgument(a.name, std::string("overlaps ") + b.name);
  };
  for (const A* w = written.begin(); w != written.end(); ++w) {
    for (const A* other = written.begin(); other != w; ++other) require(*w, *other);
    for (const A& r : read) require(*w, r);
  }
}

/// Returns the message for report_not_finite's status.
inline std::string not_finite_column(const char* of, const Status& status) {
  return "column " + std::to_string(status.info) + " of " + of + " is not finite: NaN, an infinity or an overflow";
}

/// Returns the code of a least-squares status.
inline Code code_of(SolveStatus status) {
  switch (status) {
    case SolveStatus::ok: return TESELA_OK;
    case SolveStatus::rank_deficient: return TESELA_RANK_DEFICIENT;
    case SolveStatus::inconsistent: return TESELA_INCONSISTENT;
    case SolveStatus::not_finite: return TESELA_NOT_FINITE;
    case SolveStatus::inaccurate: return TESELA_INACCURATE;
  }
  return TESELA_INTERNAL;
}

/// Reads a caller's struct, which may come from an older version of the header: it states its size, and later members
/// are 0. Null means all zeros. Throws WrongArgument for a size that no version had.
template <class S>
S read_versioned_struct(const char* name, const S* given) {
  S whole{};
  if (given == nullptr) return whole;
  if (given->size < sizeof(given->size) || given->size % 8 != 0 || given->size > sizeof(S))
    throw WrongArgument(name, "its size is " + std::to_string(given->size) + ", not the " + std::to_string(sizeof(S)) +
                                  " of this version, nor less: begin it with sizeof");
  std::memcpy(&whole, given, given->size);
  return whole;
}

/// Writes as many members as the caller's version has. Does nothing for null.
template <class S>
void write_versioned_struct(S whole, S* given) {
  if (given == nullptr) return;
  whole.size = given->size;
  std::memcpy(static_cast<void*>(given), &whole, given->size);
}

}  // namespace tesela::c
