#include "tools/bench/harness/published.hpp"

#include <catch2/catch_test_macros.hpp>

using namespace tesela::bench;

TEST_CASE("published figures equal their sources and are used only if comparable") {
  CHECK(published_gemm_seconds("naive 32", 8000) == 31.2);
  CHECK(published_gemm_seconds("naive 32", 10000) == 68.6);
  CHECK(published_gemm_seconds("naive 32", 12000) == 113.0);
  CHECK(published_gemm_seconds("shared 32", 10000) == 0);

  CHECK(published_chain_seconds("s", "dense 8000", "chain 128") == 43.2);
  CHECK(published_chain_seconds("s", "dense 10000", "chain 32") == 82.5);
  CHECK(published_chain_seconds("s", "tridiagonal 8000", "chain 128") == 14.6);
  CHECK(published_chain_seconds("s", "tridiagonal 20000", "lapack") == 97);
  // Single precision is not compared with double, nor a whole time with one of transfers or of band storage.
  CHECK(published_chain_seconds("d", "dense 8000", "chain 128") == 0);
  CHECK(published_chain_seconds("d", "tridiagonal 8000", "chain 128") == 0);
  CHECK(published_chain_seconds("s", "dense 8000", "chain 128, in") == 0);
  CHECK(published_chain_seconds("s", "tridiagonal 8000", "chain, band") == 0);

  CHECK(published_rotations().size() == 31);
  CHECK(published_rotation_figure("qr-iteration", "", 100, "d", "", "steps") == 48859);
  CHECK(published_rotation_figure("qr-iteration", "", 100, "d", "", "seconds") == 66.9);
  CHECK(published_rotation_figure("givens-qr", "tridiagonal", 26000, "s", "two GPUs", "seconds") == 250);
  CHECK(published_rotation_figure("givens-qr", "tridiagonal", 12000, "d", "a mixed pair", "seconds") == 27.6);
  CHECK(published_rotation_figure("givens-qr", "dense", 26000, "s", "two GPUs", "seconds") == 0);

  CHECK(published_tridiagonal_speedup("cr", 524288) == 1.05);
  CHECK(published_tridiagonal_speedup("shared", 524288) == 1.19);
  CHECK(published_tridiagonal_speedup("coalesced", 524288) == 1.25);
  CHECK(published_tridiagonal_speedup("coalesced", 1000) == 0);
  CHECK(published_tridiagonal_speedup("cr, on device", 524288) == 0);
}
