#include <tesela/runtime/require.hpp>
#include <tesela/runtime/types.hpp>
#include <tesela/tiles/block_cyclic.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>

using namespace tesela;

TEST_CASE("require throws an error that names routine, argument and value") {
  const struct {
    index_t rows = 7;
    index_t m() const { return rows; }
    index_t n() const { return 5; }
  } matrix;
  require(true, "solve", "X", "unused");
  CHECK_THROWS_MATCHES(require(false, "solve", "X", matrix, " in tiles of ", TileShape{4, 2}, "; A is ",
                               Shape{3, index_t{1} << 40}, std::string(", r "), 2),
                       ArgumentError,
                       Catch::Matchers::Message("solve: X: 7 x 5 in tiles of 4 x 2; A is 3 x 1099511627776, r 2"));
}
