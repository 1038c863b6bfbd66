// Replays useful inputs found by fuzzing: each file is read or throws a typed error.

#include <tesela/runtime/errors.hpp>
#include <tesela/tiles/io/file_formats.hpp>

#include <catch2/catch_test_macros.hpp>

#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace {

constexpr std::uint64_t max_bytes = std::uint64_t{1} << 20;

template <class T>
bool reads(const std::string& bytes) {
  try {
    const auto matrix = tesela::read_matrix_bytes<T>(bytes, "name", max_bytes);
    CHECK(tesela::probe_matrix_bytes(bytes, "name").shape == matrix.shape());
    bool finite = true;
    for (tesela::index_t k = 0; k < matrix.size(); ++k) finite &= std::isfinite(matrix.data()[k]);
    CHECK(finite);
    return true;
  } catch (const tesela::FileError& error) {
    CHECK(std::string(error.what()).find("name: ") == 0);
    return false;
  }
}

}  // namespace

TEST_CASE("the fuzzing corpus reads or is refused", "[files]") {
  int read = 0;
  int refused = 0;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(TESELA_TEST_DATA) + "/fuzz")) {
    CAPTURE(entry.path().filename().string());
    std::ifstream file(entry.path(), std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), {}};
    (reads<double>(bytes) ? read : refused) += 1;
    reads<float>(bytes);
  }
  CAPTURE(read, refused);
  CHECK(read > 0);  // otherwise the corpus is missing
  CHECK(refused > 0);
}
