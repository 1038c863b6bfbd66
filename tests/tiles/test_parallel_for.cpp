#include <tesela/tiles/filled.hpp>
#include <tesela/tiles/parallel_for.hpp>

#include <catch2/catch_test_macros.hpp>

#include <barrier>
#include <stdexcept>
#include <string>

using namespace tesela;

TEST_CASE("parallel_for visits each index once, in whole blocks") {
  for (const index_t count : {0, 1, 6, 7, 8, 14, 1000})
    for (const index_t block : {1, 7, 1000}) {
      CAPTURE(count, block);
      std::vector<int> visits(static_cast<std::size_t>(count));
      std::atomic<int> wrong = 0;
      parallel_for(count, block, [&](index_t first, index_t end) {
        if (first % block != 0 || end != std::min(first + block, count)) ++wrong;
        for (index_t i = first; i < end; ++i) ++visits[static_cast<std::size_t>(i)];
      });
      CHECK(wrong == 0);
      CHECK(visits == std::vector<int>(visits.size(), 1));
    }
}

TEST_CASE("parallel_for without a block calls by index, or once per core") {
  std::vector<int> visits(1000);
  parallel_for(1000, [&](index_t i) { ++visits[static_cast<std::size_t>(i)]; });
  CHECK(visits == std::vector<int>(1000, 1));
  std::atomic<index_t> calls = 0, indices = 0;
  parallel_for(1000, [&](index_t first, index_t end) { ++calls, indices += end - first; });
  CHECK(calls == ceil_div(1000, ceil_div(1000, all_cores())));
  CHECK(indices == 1000);
  parallel_for(0, [&](index_t, index_t) { ++calls; });
  CHECK(indices == 1000);
}

TEST_CASE("parallel_for runs as many blocks as cores at the same time") {
  std::barrier all(all_cores());
  parallel_for(all_cores(), [&](index_t) { all.arrive_and_wait(); });  // ends only if every block has a thread
  SUCCEED();
}

TEST_CASE("parallel_for runs all blocks and throws the exception of the first block that failed") {
  std::atomic<int> calls = 0;
  std::string error;
  try {
    parallel_for(100, [&](index_t i) {
      ++calls;
      if (i >= 40) throw std::runtime_error(std::to_string(i));
    });
  } catch (const std::runtime_error& e) {
    error = e.what();
  }
  CHECK(error == "40");
  CHECK(calls == 100);
}

TEST_CASE("filled passes on the exception of an element") {
  const auto element = [](index_t i, index_t j) {
    if (i == 3 && j == 4999) throw std::runtime_error("element");
    return static_cast<double>(i + 10 * j);
  };
  CHECK_THROWS_AS(filled<double>({5, 5000}, element), std::runtime_error);
  const HostMatrix<double> a = filled<double>({3, 4999}, element);
  for (index_t j = 0; j < 4999; ++j)
    for (index_t i = 0; i < 3; ++i)
      if (a(i, j) != static_cast<double>(i + 10 * j)) FAIL(i << ' ' << j);
  CHECK(filled<double>({0, 7}, element).size() == 0);
}

TEST_CASE("all_cores counts the cores that the process may use") {
  cpu_set_t before, one;
  REQUIRE(sched_getaffinity(getpid(), sizeof before, &before) == 0);
  CHECK(all_cores() == CPU_COUNT(&before));
  CPU_ZERO(&one);
  for (std::size_t cpu = 0; CPU_COUNT(&one) == 0; ++cpu)
    if (CPU_ISSET(cpu, &before)) CPU_SET(cpu, &one);
  REQUIRE(sched_setaffinity(getpid(), sizeof one, &one) == 0);
  const index_t bound = all_cores();
  REQUIRE(sched_setaffinity(getpid(), sizeof before, &before) == 0);
  CHECK(bound == 1);
}
