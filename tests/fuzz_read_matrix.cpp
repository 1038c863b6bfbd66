// libFuzzer target of the matrix readers. Build and run, from the repository root:
//   clang++ -std=c++20 -g -O1 -I. -fsanitize=fuzzer,address,undefined tests/fuzz_read_matrix.cpp tiles/*.cpp
//           -o /tmp/fuzz_read_matrix
//   /tmp/fuzz_read_matrix -rss_limit_mb=2048 -malloc_limit_mb=512 -dict=tests/data/fuzz.dict /tmp/corpus
//   tests/data/fuzz
// and -merge=1 brings what is new into tests/data/fuzz, which test_fuzz_corpus.cpp replays everywhere.

#include "runtime/errors.hpp"
#include "tiles/file_formats.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

namespace {

constexpr std::uint64_t max_bytes = std::uint64_t{1} << 20;

void require(bool holds) {
  if (!holds) std::abort();
}

template <class T>
void read(std::span<const char> bytes) {
  try {
    const auto matrix = tesela::read_matrix_bytes<T>(bytes, "fuzz", max_bytes);
    require(static_cast<std::uint64_t>(matrix.size()) * sizeof(T) <= max_bytes);
    for (tesela::index_t k = 0; k < matrix.size(); ++k) require(std::isfinite(matrix.data()[k]));
    require(tesela::probe_matrix_bytes(bytes, "fuzz").shape == matrix.shape());
  } catch (const tesela::FileError& error) {
    require(error.what()[0] != '\0');
  }
}

}  // namespace

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer's name
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::span<const char> bytes(reinterpret_cast<const char*>(data), size);
  read<double>(bytes);
  read<float>(bytes);
  return 0;
}
