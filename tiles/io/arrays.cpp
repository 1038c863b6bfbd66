#include <tesela/runtime/errors.hpp>
#include <tesela/tiles/io/arrays.hpp>
#include <tesela/tiles/io/atomic_file.hpp>
#include <tesela/tiles/io/mapped_file.hpp>
#include <tesela/tiles/io/npy.hpp>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace tesela {
namespace {

/// "[3, 0, 1]" of the k-th value in C order.
std::string place(index_t k, const std::vector<index_t>& dims) {
  std::string text;
  for (std::size_t d = dims.size(); d-- > 0; k /= dims[d])
    text = std::to_string(k % dims[d]) + (text.empty() ? "" : ", " + text);
  return "[" + text + "] (from zero)";
}

/// Where the k-th value of C order stands in the file.
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

template <class Real>
Real load(const char* p, bool swapped) {
  char bytes[sizeof(Real)];
  std::memcpy(bytes, p, sizeof bytes);
  if (swapped) std::reverse(bytes, bytes + sizeof bytes);
  Real value;
  std::memcpy(&value, bytes, sizeof bytes);
  return value;
}

double load_real(const char* p, std::size_t bytes, bool swapped) {
  return bytes == 4 ? static_cast<double>(load<float>(p, swapped)) : load<double>(p, swapped);
}

index_t count_of(const std::vector<index_t>& dims) {
  if (std::find(dims.begin(), dims.end(), 0) != dims.end()) return 0;  // beside sizes whose product overflows, maybe
  index_t count = 1;
  for (const index_t d : dims) count *= d;
  return count;
}

template <class T>
constexpr const char* kind() {
  if constexpr (std::is_same_v<T, int>) return "i4";
  if constexpr (std::is_same_v<T, float>) return "f4";
  if constexpr (std::is_same_v<T, double>) return "f8";
  if constexpr (std::is_same_v<T, std::complex<float>>) return "c8";
  return "c16";
}

}  // namespace

template <class T>
Array<std::complex<T>> read_complex_array(const std::string& path) {
  const MappedFile file(path);
  if (!npy::recognise(file.bytes())) throw FileError(path, "is no NumPy (.npy) file");
  const npy::ArrayHeader header = npy::parse_array_header(file.bytes(), path);
  const char* const values = file.bytes().data() + header.data_offset;
  Array<std::complex<T>> array{header.dims, {}};
  const index_t count = count_of(header.dims);
  array.values.resize(static_cast<std::size_t>(count));
  for (index_t k = 0; k < count; ++k) {
    const char* const p =
        values + in_file(k, header.dims, header.fortran_order) * static_cast<index_t>(header.item_bytes());
    const T re = static_cast<T>(load_real(p, header.real_bytes, header.swapped));
    const T im =
        header.complex ? static_cast<T>(load_real(p + header.real_bytes, header.real_bytes, header.swapped)) : T(0);
    if (!std::isfinite(re) || !std::isfinite(im))
      throw FileError(path,
                      "the value at " + place(k, header.dims) + " is NaN, infinite or too large for the precision");
    array.values[static_cast<std::size_t>(k)] = {re, im};
  }
  return array;
}

Array<int> read_whole_array(const std::string& path) {
  const MappedFile file(path);
  if (!npy::recognise(file.bytes())) throw FileError(path, "is no NumPy (.npy) file");
  const npy::ArrayHeader header = npy::parse_whole_header(file.bytes(), path);
  const char* const values = file.bytes().data() + header.data_offset;
  Array<int> array{header.dims, {}};
  const index_t count = count_of(header.dims);
  for (index_t k = 0; k < count; ++k) {
    const char* const p =
        values + in_file(k, header.dims, header.fortran_order) * static_cast<index_t>(header.real_bytes);
    const std::int64_t value = header.real_bytes == 4 ? static_cast<std::int64_t>(load<std::int32_t>(p, header.swapped))
                                                      : load<std::int64_t>(p, header.swapped);
    if (value < std::numeric_limits<int>::min() || value > std::numeric_limits<int>::max())
      throw FileError(path, "the value at " + place(k, header.dims) + " is beyond 32 bits");
    array.values.push_back(static_cast<int>(value));
  }
  return array;
}

template <class T>
void write_array(const std::string& path, const std::vector<index_t>& dims, const T* values) {
  if (!path.ends_with(".npy")) throw FileError(path, "arrays are written as .npy");
  std::string header = std::string("{'descr': '") + (std::endian::native == std::endian::little ? '<' : '>') +
                       kind<T>() + "', 'fortran_order': False, 'shape': (";
  for (const index_t d : dims) header += std::to_string(d) + ", ";
  header += "), }";
  while ((10 + header.size() + 1) % 64 != 0) header += ' ';  // the format wants the values aligned so
  header += '\n';
  AtomicFile file(path);
  const char prefix[] = {'\x93',
                         'N',
                         'U',
                         'M',
                         'P',
                         'Y',
                         1,
                         0,
                         static_cast<char>(header.size() & 0xff),
                         static_cast<char>(header.size() >> 8)};
  file.write(prefix, sizeof prefix);
  file.write(header);
  file.write(values, static_cast<std::size_t>(count_of(dims)) * sizeof(T));
  file.commit();
}

template Array<std::complex<float>> read_complex_array<float>(const std::string&);
template Array<std::complex<double>> read_complex_array<double>(const std::string&);
template void write_array(const std::string&, const std::vector<index_t>&, const int*);
template void write_array(const std::string&, const std::vector<index_t>&, const float*);
template void write_array(const std::string&, const std::vector<index_t>&, const double*);
template void write_array(const std::string&, const std::vector<index_t>&, const std::complex<float>*);
template void write_array(const std::string&, const std::vector<index_t>&, const std::complex<double>*);

}  // namespace tesela
