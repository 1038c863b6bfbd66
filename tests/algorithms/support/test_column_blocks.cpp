#include "tests/support/test.hpp"
#include <tesela/algorithms/support/internal/column_blocks.hpp>

using namespace tesela;

namespace {

constexpr double unlimited = std::numeric_limits<double>::infinity();

/// Requires that the blocks follow one another and cover all columns.
void check_cover(const std::vector<ColumnBlock>& blocks, index_t columns) {
  index_t next = 0;
  for (const auto [begin, end] : blocks) {
    CHECK(begin == next);
    CHECK(end > begin);
    next = end;
  }
  CHECK(next == columns);
}

}  // namespace

TEST_CASE("a matrix that fits is one block") {
  const auto ten = [](index_t) { return 10.0; };
  CHECK(column_blocks(GpuRoom(0, unlimited), 9, ten, 5).size() == 1);
  CHECK(column_blocks(GpuRoom(1, unlimited), 9, ten, 5).size() == 1);
  CHECK(column_blocks(GpuRoom(1, 95), 9, ten, 5).size() == 1);
  CHECK(column_blocks(GpuRoom(1, 94), 9, ten, 5).size() > 1);
  CHECK(column_blocks(GpuRoom(3, 35), 9, ten, 5).size() == 1);
  CHECK(column_blocks(GpuRoom(1, 1), 0, ten, 0).size() == 1);
}

TEST_CASE("two blocks and three other columns fit") {
  for (const int gpus : {1, 2})
    for (const double room : {50.0, 100.0, 155.0, 300.0}) {
      const double reserved = 7;
      for (const bool shrinks : {false, true}) {
        const auto bytes = [&](index_t j) { return shrinks ? 20.0 - static_cast<double>(j) : 10.0; };
        const std::vector<ColumnBlock> blocks = column_blocks(GpuRoom(gpus, room), 20, bytes, reserved);
        CAPTURE(gpus, room, shrinks, blocks.size());
        check_cover(blocks, 20);
        for (const auto [begin, end] : blocks) {
          double sum = 0;
          for (index_t j = begin; j < end; ++j) sum += bytes(j);
          const double most = gpus * (room - reserved - 3 * bytes(begin)) / 2;
          CHECK((blocks.size() == 1 || end == begin + 1 || sum <= most));
          CHECK((end == 20 || sum + bytes(end) > most));
        }
      }
    }
}

TEST_CASE("a GPU with little memory gets narrow tile columns") {
  constexpr index_t rows = 1000;
  CHECK(width_in_memory(GpuRoom(1, unlimited), rows, 512, 12) == 512);
  CHECK(width_in_memory(GpuRoom(1, 8.0 * rows * 512 * 12), rows, 512, 12) == 512);
  CHECK(width_in_memory(GpuRoom(1, 8.0 * rows * 500 * 12), rows, 512, 12) == 480);
  CHECK(width_in_memory(GpuRoom(1, 1), rows, 512, 12) == 32);
  CHECK(width_in_memory(GpuRoom(1, 1e6), 0, 512, 12) == 512);
}
