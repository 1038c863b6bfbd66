#include <tesela/runtime/errors.hpp>
#include <tesela/runtime/scalar.hpp>
#include <tesela/tiles/io/arrays.hpp>
#include <tesela/tiles/io/kept_value.hpp>
#include <tesela/tiles/io/mapped_file.hpp>
#include <tesela/tiles/io/matrix_market.hpp>
#include <tesela/tiles/io/npy.hpp>
#include <tesela/tiles/io/npy_items.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

namespace tesela {
namespace {

/// Returns the index of the k-th value in C order, such as "[3, 0, 1]".
std::string place(index_t k, const std::vector<index_t>& dims) {
  std::string text;
  for (std::size_t d = dims.size(); d-- > 0; k /= dims[d])
    text = std::to_string(k % dims[d]) + (text.empty() ? "" : ", " + text);
  return "[" + text + "] (from zero)";
}

/// Returns the position in the file of the k-th value in C order.
index_t in_file(index_t k, const std::vector<index_t>& dims, bool fortran_order) {
  if (!fortran_order) return k;
  index_t at = 0, step = 1, total = 1;
  for (const index_t d : dims) total *= d;
  for (const index_t d : dims) {
    total /= d;
    at += k / total * step;
    k %= total;
    step *= d;
  }
  return at;
}

/// Returns a real number, or either part of a complex one; NaN for an integer that double precision does not hold.
double load_real(const char* p, const npy::Item& item) {
  double value = 0;
  npy::with_type(item, [&]<class Number, bool swapped>() {
    const auto number = npy::load<Number, swapped>(p);
    value = npy::holds(number) ? static_cast<double>(number) : std::numeric_limits<double>::quiet_NaN();
  });
  return value;
}

index_t count_of(const std::vector<index_t>& dims) {
  if (std::find(dims.begin(), dims.end(), 0) != dims.end()) return 0;  // the product of the other sizes may overflow
  index_t count = 1;
  for (const index_t d : dims) count *= d;
  return count;
}

template <class Value>
constexpr const char* kind() {
  if constexpr (std::is_same_v<Value, std::int8_t>) return "i1";
  if constexpr (std::is_same_v<Value, int>) return "i4";
  if constexpr (std::is_same_v<Value, float>) return "f4";
  if constexpr (std::is_same_v<Value, double>) return "f8";
  if constexpr (std::is_same_v<Value, std::complex<float>>) return "c8";
  return "c16";
}

template <class Value>
constexpr bool whole = std::is_same_v<Value, int>;

template <class Value>
npy::ArrayHeader header_of(std::span<const char> bytes, const std::string& path) {
  if (!npy::recognise(bytes))
    throw FileError(path,
                    whole<Value> ? "is not a NumPy (.npy) file" : "is neither a NumPy (.npy) nor a Matrix Market file");
  return whole<Value> ? npy::parse_whole_header(bytes, path) : npy::parse_array_header(bytes, path);
}

/// Returns a value in the file, or nothing if Value cannot hold it.
template <class Value>
std::optional<Value> value_at(const char* p, const npy::ArrayHeader& header) {
  if constexpr (whole<Value>) {
    std::optional<int> value;
    npy::with_type(header.item, [&]<class Number, bool swapped>() {
      const auto number = npy::load<Number, swapped>(p);
      if constexpr (!std::is_integral_v<decltype(number)>)
        value = static_cast<int>(number);  // of a bool
      else if (std::in_range<int>(number))
        value = static_cast<int>(number);
    });
    return value;
  } else {
    using T = typename Value::value_type;
    const double re = load_real(p, header.item),
                 im = header.item.kind == 'c' ? load_real(p + header.item.bytes, header.item) : 0;
    const Value value(static_cast<T>(re), static_cast<T>(im));
    const auto small = [&](double lost) {  // relative to both parts
      return lost <= static_cast<double>(std::numeric_limits<T>::epsilon()) * std::hypot(re, im);
    };
    const auto kept = [&](double part, T rounded) {
      return keeps(part, rounded) || small(std::abs(part - static_cast<double>(rounded)));
    };
    if (!kept(re, value.real()) || !kept(im, value.imag())) return std::nullopt;
    return value;
  }
}

}  // namespace

template <class Value>
struct ArrayRows<Value>::State {
  explicit State(const std::string& name) : path(name), file(name) {
    if constexpr (!whole<Value>)
      if (matrix_market::recognise(file.bytes())) {
        const auto a = matrix_market::read<Value>(file.bytes(), path, physical_memory());
        header.dims = {a.rows(), a.cols()};
        for (index_t i = 0; i < a.rows(); ++i)
          for (index_t j = 0; j < a.cols(); ++j) text.push_back(a(i, j));
        return;
      }
    header = header_of<Value>(file.bytes(), path);
  }
  std::string path;
  MappedFile file;
  npy::ArrayHeader header;  ///< for Matrix Market only dims is set
  std::vector<Value> text;  ///< contents of a Matrix Market file, in C order
};

template <class Value>
ArrayRows<Value>::ArrayRows(const std::string& path) : state_(std::make_unique<State>(path)) {}
template <class Value>
ArrayRows<Value>::~ArrayRows() = default;
template <class Value>
ArrayRows<Value>::ArrayRows(ArrayRows&&) noexcept = default;

template <class Value>
const std::vector<index_t>& ArrayRows<Value>::dims() const {
  return state_->header.dims;
}
template <class Value>
const std::string& ArrayRows<Value>::path() const {
  return state_->path;
}
template <class Value>
index_t ArrayRows<Value>::row_size() const {
  return dims().empty() ? 1 : count_of({dims().begin() + 1, dims().end()});
}

template <class Value>
void ArrayRows<Value>::read(index_t first, index_t count, Value* out) const {
  const index_t begin = first * row_size(), size = count * row_size();
  if (!state_->text.empty()) {
    std::copy_n(state_->text.begin() + begin, size, out);
    return;
  }
  const npy::ArrayHeader& header = state_->header;
  const auto bytes = static_cast<index_t>(header.item_bytes());
  const char* const values = state_->file.bytes().data() + header.data_offset;
  for (index_t k = begin; k < begin + size; ++k) {
    const auto value = value_at<Value>(values + in_file(k, header.dims, header.fortran_order) * bytes, header);
    if (!value)
      throw FileError(path(), "the value at " + place(k, header.dims) +
                                  (whole<Value> ? " is beyond 32 bits"
                                                : " is NaN, infinite, or too large or too small for the precision"));
    out[k - begin] = *value;
  }
}

namespace {

template <class Value>
Array<Value> read_all(const std::string& path) {
  const ArrayRows<Value> rows(path);
  Array<Value> array{rows.dims(), std::vector<Value>(static_cast<std::size_t>(count_of(rows.dims())))};
  if (!array.values.empty()) rows.read(0, array.dims.empty() ? 1 : array.dims[0], array.values.data());
  return array;
}

std::string header_text(const char* kind, const std::vector<index_t>& dims) {
  const bool byte = kind[1] == '1' && kind[2] == '\0';
  std::string header = std::string("{'descr': '") +
                       (byte                                         ? '|'
                        : std::endian::native == std::endian::little ? '<'
                                                                     : '>') +
                       kind + "', 'fortran_order': False, 'shape': (";
  for (const index_t d : dims) header += std::to_string(d) + ", ";
  header += "), }";
  while ((10 + header.size() + 1) % 64 != 0) header += ' ';  // the format requires aligned values
  header += '\n';
  const auto size = header.size();
  return std::string("\x93NUMPY\x01", 7) + '\0' + static_cast<char>(size & 0xff) + static_cast<char>(size >> 8) +
         header;
}

}  // namespace

const std::string& require_array_name(const std::string& path) {
  if (!path.ends_with(".npy") && destination_file(path)) throw FileError(path, "arrays are written as .npy");
  return path;
}

template <class T>
Array<std::complex<T>> read_complex_array(const std::string& path) {
  return read_all<std::complex<T>>(path);
}
Array<int> read_whole_array(const std::string& path) { return read_all<int>(path); }

template <class Value>
ArrayWriter<Value>::ArrayWriter(const std::string& path, const std::vector<index_t>& dims)
    : file_(require_array_name(path)) {
  file_.write(header_text(kind<Value>(), dims));
}
template <class Value>
void ArrayWriter<Value>::write(const Value* values, index_t count) {
  if (count > 0) file_.write(values, static_cast<std::size_t>(count) * sizeof(Value));
}
template <class Value>
void ArrayWriter<Value>::commit() {
  file_.commit();
}

template <class Value>
void write_array(const std::string& path, const std::vector<index_t>& dims, const Value* values) {
  ArrayWriter<Value> file(path, dims);
  file.write(values, count_of(dims));
  file.commit();
}

template Array<std::complex<float>> read_complex_array<float>(const std::string&);
template Array<std::complex<double>> read_complex_array<double>(const std::string&);
template class ArrayRows<int>;
template class ArrayRows<std::complex<float>>;
template class ArrayRows<std::complex<double>>;

#define TESELA_WRITE(Value)          \
  template class ArrayWriter<Value>; \
  template void write_array(const std::string&, const std::vector<index_t>&, const Value*);
TESELA_WRITE(std::int8_t)
TESELA_WRITE(int)
TESELA_FOR_NUMBERS(TESELA_WRITE)

}  // namespace tesela
