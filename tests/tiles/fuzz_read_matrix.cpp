// libFuzzer target for one matrix reader, TESELA_READER: matrix_market or npy. scripts/fuzz builds and runs both.
// Useful inputs are kept in tests/data/fuzz, which test_fuzz_corpus.cpp replays.

#include <tesela/runtime/errors.hpp>
#include <tesela/tiles/io/file_formats.hpp>
#include <tesela/tiles/io/matrix_market.hpp>
#include <tesela/tiles/io/npy.hpp>

#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <string>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

namespace {

namespace reader = tesela::TESELA_READER;
using tesela::HostMatrix;
using tesela::index_t;

constexpr std::uint64_t max_bytes = std::uint64_t{1} << 20;

void require(bool holds) {
  if (!holds) std::abort();
}

template <class T>
bool same_bits(const HostMatrix<T>& a, const HostMatrix<T>& b) {
  return a.shape() == b.shape() &&
         (a.size() == 0 || std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof(T)) == 0);
}

/// Returns the bytes of the matrix in its format.
template <class T>
std::vector<char> written(const HostMatrix<T>& matrix) {
  static const int memory = memfd_create("fuzz", 0);
  require(memory >= 0 && ftruncate(memory, 0) == 0);
  {
    tesela::AtomicFile file("/dev/fd/" + std::to_string(memory));
    reader::write(file, matrix.data(), matrix.shape(), matrix.ld());
    file.commit();
  }
  std::vector<char> bytes(static_cast<std::size_t>(lseek(memory, 0, SEEK_END)));
  require(pread(memory, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size()));
  return bytes;
}

/// Requires that a refusal is a FileError with a message. An accepted matrix must be finite, have the probed size, and
/// give the same bytes after it is written and read again.
template <class T>
void read(std::span<const char> bytes) {
  try {
    const auto matrix = tesela::read_matrix_bytes<T>(bytes, "fuzz", max_bytes);
    require(static_cast<std::uint64_t>(matrix.size()) * sizeof(T) <= max_bytes);
    for (index_t k = 0; k < matrix.size(); ++k) require(std::isfinite(matrix.data()[k]));
    require(tesela::probe_matrix_bytes(bytes, "fuzz").shape == matrix.shape());
    require(same_bits(tesela::read_matrix_bytes<T>(written(matrix), "written", max_bytes), matrix));
  } catch (const tesela::FileError& error) {
    const std::string problem = error.what();
    require(problem.starts_with("fuzz: "));  // a written matrix must be accepted
  }
}

/// Only Matrix Market has complex matrices; real matrices are the same in both.
void read_complex(std::span<const char> bytes) {
  using Number = std::complex<double>;
  try {
    const auto matrix = tesela::matrix_market::read<Number>(bytes, "fuzz", max_bytes);
    require(static_cast<std::uint64_t>(matrix.size()) * sizeof(Number) <= max_bytes);
    for (index_t k = 0; k < matrix.size(); ++k)
      require(std::isfinite(matrix.data()[k].real()) && std::isfinite(matrix.data()[k].imag()));
  } catch (const tesela::FileError& error) {
    const std::string problem = error.what();
    require(problem.starts_with("fuzz: "));
  }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer requires this name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const char> bytes(reinterpret_cast<const char*>(data), size);
  if (!reader::recognise(bytes)) return 0;  // a file of another format
  read<double>(bytes);
  read<float>(bytes);
  if (tesela::matrix_market::recognise(bytes)) read_complex(bytes);
  return 0;
}
