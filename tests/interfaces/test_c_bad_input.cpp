#include "tests/support/c_interface.hpp"

#include <array>

using namespace tesela::test;

namespace {

std::string said() { return tesela_error(); }

struct Handles {
  tesela_matrix *d = nullptr, *s = nullptr;
  tesela_graph* graph = nullptr;
  tesela_qr* qr = nullptr;
  std::vector<double> memory = std::vector<double>(12, 1.0);
  Handles() {
    const std::array<double, 12> ones{1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    REQUIRE(tesela_dmatrix_create(4, 3, 2, 2, &d) == 0);
    REQUIRE(tesela_dmatrix_set(d, ones.data(), 4) == 0);
    REQUIRE(tesela_smatrix_create(4, 3, 2, 2, &s) == 0);
    REQUIRE(tesela_graph_create(&graph) == 0);
    REQUIRE(tesela_dgeqrf(4, 3, memory.data(), 4, &qr) == 0);
  }
  ~Handles() {
    tesela_matrix_free(d);
    tesela_matrix_free(s);
    tesela_graph_free(graph);
    tesela_qr_free(qr);
  }
};

template <class H, class From>
H* as(From* handle) {
  return reinterpret_cast<H*>(handle);
}

}  // namespace

TEST_CASE("C: errors name the argument for sizes, strides and null pointers", "[c][bad]") {
  std::vector<double> a(100, 1), b(100, 1);
  CHECK(tesela_dgemm('X', 'N', 2, 2, 2, 1, a.data(), 2, a.data(), 2, 0, b.data(), 2) == -1);
  CHECK(said() == "tesela_dgemm: transa: 'X' is none of 'N', 'T' and 'C'");
  CHECK(tesela_dgemm('N', 'N', 2, -2, 2, 1, a.data(), 2, a.data(), 2, 0, b.data(), 2) == -4);
  CHECK(tesela_dgemm('N', 'N', 2, 2, 2, 1, nullptr, 2, a.data(), 2, 0, b.data(), 2) == -7);
  CHECK(tesela_dgemm('N', 'N', 2, 2, 2, 1, a.data(), 1, a.data(), 2, 0, b.data(), 2) == -8);
  CHECK(said() == "tesela_dgemm: lda: 1 is less than the 2 of a");
  CHECK(tesela_dgemm('N', 'N', 2, 2, 2, 1, a.data(), 2, a.data(), -2, 0, b.data(), 2) == -10);
  CHECK(tesela_dgemm('N', 'N', 2, 2, 2, 1, a.data(), 2, a.data(), 2, 0, b.data(), 0) == -13);
  CHECK(tesela_dgemm('N', 'N', 2, 2, 2, 1, a.data(), 2, a.data(), 2, 0, nullptr, 2) == -12);
  const index_t huge = std::numeric_limits<index_t>::max();
  CHECK(tesela_dgemm('N', 'N', huge, huge, 2, 1, a.data(), huge, a.data(), 2, 0, b.data(), huge) == -7);
  CHECK(said().find("address space") != std::string::npos);
  CHECK(tesela_dgemm('N', 'N', 2, 2, 2, 1, a.data(), index_t{1} << 33, a.data(), 2, 0, b.data(), 2) == -8);
  std::vector<double> column(2, 1);  // the leading dimension of a single column is unused
  CHECK_OK(tesela_dgemm('N', 'N', 2, 1, 2, 1, a.data(), 2, a.data(), huge, 0, column.data(), huge));
  CHECK((column[0] == 2 && column[1] == 2));
  CHECK(tesela_dgels(5, 2, 1, a.data(), 5, b.data(), 4, nullptr) == -7);
  CHECK(tesela_dgels(2, 5, 1, a.data(), 2, b.data(), 4, nullptr) == -7);
  CHECK(tesela_dgelsy(5, 2, 1, a.data(), 5, b.data(), 5, -1, nullptr) == -8);
  CHECK(tesela_dgelsy(5, 2, 1, a.data(), 5, b.data(), 5, std::nan(""), nullptr) == -8);
  CHECK(tesela_dwls(5, 2, 1, nullptr, a.data(), 5, b.data(), 5, nullptr) == -4);
  CHECK(tesela_dgesv(-1, 1, a.data(), 5, nullptr, b.data(), 5) == -1);
  CHECK(tesela_dposv('L', 5, 1, a.data(), 5, b.data(), 5) == -1);
  CHECK(tesela_dsyev('V', 'L', 5, a.data(), 5, nullptr) == -6);
  CHECK(tesela_dgtsv(5, 1, a.data(), nullptr, a.data(), b.data(), 5) == -4);
  CHECK(tesela_dtridiagonal_solve(5, 3, 2, 0, a.data(), a.data(), a.data(), 5, b.data(), 5) == -3);
  CHECK(tesela_dtoeplitz_solve(5, 1, nullptr, b.data(), 5, nullptr) == -3);
  CHECK(tesela_dtridiagonal_count_below(5, a.data(), a.data(), std::nan(""), nullptr) == -4);
  CHECK(tesela_dgeqrf(5, 2, a.data(), 5, nullptr) == -5);
  CHECK(tesela_dmatrix_create(5, 5, 0, 2, nullptr) == -3);
  CHECK(tesela_dmatrix_create(5, 5, 2, 2, nullptr) == -5);
  CHECK(tesela_workers(nullptr, nullptr) == -1);
  for (double each : b) CHECK(each == 1);
}

TEST_CASE("C: errors name the argument for invalid numbers", "[c][bad]") {
  const double nan = std::nan(""), infinity = std::numeric_limits<double>::infinity();
  std::vector<double> a(100, 1), b(100, 1), w(10, 1), one{1};
  index_t below = 0;
  double uncertainty = 0;
  for (const double sigma : {nan, infinity, -infinity})
    CHECK(tesela_dsymmetric_inertia('L', 5, a.data(), 5, sigma, &below, &uncertainty) == -5);
  for (const double weight : {nan, infinity, -1e-300}) {
    w[3] = weight;
    CHECK(tesela_dwls(5, 2, 1, w.data(), a.data(), 5, b.data(), 5, nullptr) == -4);
  }
  CHECK(said().find("-1e-300") != std::string::npos);
  a[3] = nan;
  CHECK(tesela_dsymmetric_inertia('L', 5, a.data(), 5, 0, &below, &uncertainty) == 1);
  CHECK(said().find("column 1 of A is not finite") != std::string::npos);
  CHECK(tesela_dtoeplitz_eig('N', 5, a.data(), w.data(), nullptr, 1) == -3);
  CHECK(tesela_dtoeplitz_solve(5, 1, a.data(), b.data(), 5, nullptr) > 0);
  CHECK(tesela_dtridiagonal_count_below(5, a.data(), b.data(), 0, &below) == -2);
  CHECK(tesela_dtridiagonal_count_below(5, b.data(), a.data(), 0, &below) == -3);
  CHECK(tesela_dtridiagonal_count_below(5, b.data(), b.data(), nan, &below) == -4);
  CHECK(tesela_dtridiagonal_count_below(5, b.data(), b.data(), -infinity, &below) == 0);
  CHECK(tesela_dsyevr('N', 'V', 'L', 5, b.data(), 5, nan, 1, 0, 0, &below, w.data(), nullptr, 1) == -7);
  CHECK(tesela_dsyevr('N', 'V', 'L', 5, b.data(), 5, 0, nan, 0, 0, &below, w.data(), nullptr, 1) == -8);
}

TEST_CASE("C: messages are complete and print numbers with their digits", "[c][bad]") {
  std::vector<double> a(100, 1), w(10, 1);
  index_t m = 0;
  CHECK(tesela_dgemm('\0', 'N', 1, 1, 1, 1, a.data(), 1, a.data(), 1, 0, w.data(), 1) == -1);
  CHECK(said() == "tesela_dgemm: transa: '\\x00' is none of 'N', 'T' and 'C'");
  CHECK(tesela_dgemm('N', '\xff', 1, 1, 1, 1, a.data(), 1, a.data(), 1, 0, w.data(), 1) == -2);
  CHECK(said() == "tesela_dgemm: transb: '\\xff' is none of 'N', 'T' and 'C'");
  CHECK(tesela_dsyev('\n', 'L', 1, a.data(), 1, w.data()) == -1);
  CHECK(said() == "tesela_dsyev: jobz: '\\x0a' is neither 'V' nor 'N'");
  CHECK(tesela_dgelsy(2, 1, 1, a.data(), 2, w.data(), 2, -1e-300, nullptr) == -8);
  CHECK(said() == "tesela_dgelsy: rcond: -1e-300 is not in [0, 1)");
  CHECK(tesela_dsyevr('N', 'V', 'L', 5, a.data(), 5, 2e-300, 1e-300, 0, 0, &m, w.data(), nullptr, 1) == -8);
  CHECK(said() == "tesela_dsyevr: vu: 1e-300 is less than vl, 2e-300");
  CHECK_OK(tesela_stop());
  tesela_options options = {};
  options.size = sizeof options;
  options.scheduler =
      "\xc3\xa9\xc3(\xe2\x82\xac\xed\xa0\x80\xf0\x9f\x98\x80\x80";  // é, € and an emoji between invalid bytes
  CHECK(tesela_start(&options) == -1);
  CHECK(said().find("'\xc3\xa9\\xc3(\xe2\x82\xac\\xed\\xa0\\x80\xf0\x9f\x98\x80\\x80'") != std::string::npos);
}

TEST_CASE("C: more tiles than memory can hold are an error at once", "[c][bad]") {
  for (const index_t size : {index_t{1000000}, index_t{1} << 40, std::numeric_limits<index_t>::max()}) {
    tesela_matrix* a = nullptr;
    CHECK(tesela_dmatrix_create(size, size, 1, 1, &a) == TESELA_ENVIRONMENT);
    CHECK(said().find("not enough host memory for") != std::string::npos);
    CHECK(a == nullptr);
  }
  tesela_matrix* a = nullptr;
  CHECK_OK(tesela_dmatrix_create(300, 400, 1, 1, &a));  // many tiles that fit into memory
  CHECK_OK(tesela_matrix_free(a));
}

TEST_CASE("C: sizes that do not match are refused", "[c][bad]") {
  Handles h;
  std::vector<double> c(100, 1);
  CHECK(tesela_dormqr('L', 'N', 5, 2, h.qr, c.data(), 5) == -3);
  CHECK(tesela_dormqr('R', 'N', 5, 2, h.qr, c.data(), 5) == -4);
  CHECK(tesela_dormqr('X', 'N', 4, 2, h.qr, c.data(), 5) == -1);
  CHECK(tesela_dorgqr(5, 2, h.qr, c.data(), 5) == -1);
  CHECK(tesela_dorgqr(4, 5, h.qr, c.data(), 5) == -2);
  CHECK(tesela_dmatrix_set(h.d, c.data(), 3) == -3);
  CHECK(tesela_dmatrix_get(h.d, nullptr, 4) == -2);
  // A matrix without contents cannot be an input.
  tesela_matrix *empty = nullptr, *product = nullptr;
  REQUIRE(tesela_dmatrix_create(3, 3, 2, 2, &empty) == 0);
  REQUIRE(tesela_dmatrix_create(4, 3, 2, 2, &product) == 0);
  CHECK(tesela_dgemm_async(h.graph, 'N', 'N', 1, h.d, h.d, 0, product) == TESELA_ARGUMENT);
  CHECK(said().find("gemm") != std::string::npos);
  CHECK(tesela_dgemm_tile('N', 'N', 1, h.d, empty, 0, product) == TESELA_ARGUMENT);
  CHECK(tesela_dmatrix_get(empty, c.data(), 3) == TESELA_ARGUMENT);
  tesela_matrix_free(empty);
  tesela_matrix_free(product);
  CHECK_OK(tesela_graph_wait(h.graph));
}

TEST_CASE("C: null, wrong and invalid handles are refused", "[c][bad]") {
  Handles h;
  std::vector<double> c(100, 1);
  std::vector<float> f(100, 1);
  CHECK(tesela_graph_wait(nullptr) == -1);
  CHECK(said() == "tesela_graph_wait: graph: null");
  CHECK(tesela_graph_wait(as<tesela_graph>(h.d)) == -1);
  CHECK(said() == "tesela_graph_wait: graph: is a matrix in double precision, not a graph");
  CHECK(tesela_dmatrix_get(h.s, c.data(), 4) == -1);
  CHECK(said() == "tesela_dmatrix_get: a: is a matrix in single precision, not a matrix in double precision");
  CHECK(tesela_sormqr('L', 'N', 4, 2, h.qr, f.data(), 4) == -5);
  CHECK(tesela_dormqr('L', 'N', 4, 2, as<tesela_qr>(h.graph), c.data(), 4) == -5);
  CHECK(tesela_dgemm_async(as<tesela_graph>(h.qr), 'N', 'N', 1, h.d, h.d, 0, h.d) == -1);
  CHECK(tesela_matrix_free(as<tesela_matrix>(h.graph)) == -1);
  CHECK(tesela_graph_free(as<tesela_graph>(h.d)) == -1);
  CHECK(tesela_graph_wait(as<tesela_graph>(c.data())) == -1);  // the address of other memory
  CHECK(tesela_graph_wait(reinterpret_cast<tesela_graph*>(std::uintptr_t{1})) == -1);
  CHECK(said() == "tesela_graph_wait: graph: is not a handle: it was freed or never made");
  CHECK_OK(tesela_matrix_free(nullptr));
  CHECK_OK(tesela_graph_free(nullptr));
  CHECK_OK(tesela_qr_free(nullptr));
}

TEST_CASE("C: a freed handle is never reused", "[c][bad]") {
  tesela_matrix* old = nullptr;
  REQUIRE(tesela_dmatrix_create(4, 3, 2, 2, &old) == 0);
  CHECK_OK(tesela_matrix_free(old));
  std::vector<tesela_matrix*> others(50);
  for (tesela_matrix*& each : others) REQUIRE(tesela_dmatrix_create(4, 3, 2, 2, &each) == 0);
  std::vector<double> c(12);
  CHECK(tesela_dmatrix_set(old, c.data(), 4) == -1);
  CHECK(said().find("was freed") != std::string::npos);
  CHECK(tesela_matrix_free(old) == -1);
  CHECK_OK(tesela_stop());  // frees all handles
  CHECK(tesela_matrix_free(others[0]) == -1);
  CHECK(tesela_dmatrix_set(others[1], c.data(), 4) == -1);
}

TEST_CASE("C: tesela_stop frees a mapped matrix and a factorization", "[c][bad]") {
  std::vector<double> a(12, 1.0), qr_memory(12, 2.0);
  tesela_matrix* mapped = nullptr;
  tesela_qr* qr = nullptr;
  REQUIRE(tesela_dmatrix_map(4, 3, a.data(), 4, 2, 2, &mapped) == 0);
  REQUIRE(tesela_dgeqrf(4, 3, qr_memory.data(), 4, &qr) == 0);
  CHECK_OK(tesela_stop());
  CHECK(a == std::vector<double>(12, 1.0));
  CHECK(tesela_dorgqr(4, 3, qr, a.data(), 4) == -3);
}

TEST_CASE("C: structs of older, newer and missing versions are handled", "[c][bad]") {
  std::vector<double> a(10, 1.0), b{0, 1, 2, 3, 4};
  // A struct of an older version ends after the rank; memory after it must not change.
  struct {
    std::size_t size;
    std::int64_t status, rank;
    double after;
  } old = {24, -1, -1, 7.5};
  CHECK_OK(tesela_dgels(5, 2, 1, a.data(), 5, b.data(), 5, reinterpret_cast<tesela_gels_result*>(&old)));
  CHECK((old.size == 24 && old.status == TESELA_RANK_DEFICIENT && old.rank == 1 && old.after == 7.5));
  tesela_gels_result result = {};
  for (const std::size_t size : {std::size_t{0}, std::size_t{12}, sizeof result + 8, std::size_t{1} << 40}) {
    result.size = size;
    CHECK(tesela_dgels(5, 2, 1, a.data(), 5, b.data(), 5, &result) == -8);
    CHECK(said().find("begin it with sizeof") != std::string::npos);
  }
}

TEST_CASE("C: tesela_start refuses invalid options and applies valid ones", "[c][bad]") {
  CHECK_OK(tesela_stop());
  CHECK_OK(tesela_stop());  // nothing to do
  tesela_options options = {};
  options.size = sizeof options;
  options.scheduler = "no-such-scheduler";
  CHECK(tesela_start(&options) == -1);
  CHECK(said().find("no-such-scheduler") != std::string::npos);
  options.scheduler = nullptr;
  options.cpus = -2;
  CHECK(tesela_start(&options) == -1);
  options.cpus = TESELA_NONE;
  options.gpus = TESELA_NONE;
  CHECK(tesela_start(&options) == TESELA_ENVIRONMENT);
  CHECK(said().find("STARPU_NCPU") != std::string::npos);
  options.gpus = 4096;
  options.cpus = 1;
  CHECK(tesela_start(&options) == TESELA_ENVIRONMENT);
  CHECK(said().find("4096 GPUs wanted") != std::string::npos);
  options.gpus = 0;
  options.gpu_megabytes = -5;
  CHECK(tesela_start(&options) == -1);
  options.gpu_megabytes = 200;
  options.gpus = TESELA_NONE;
  options.scheduler = "eager";
  CHECK_OK(tesela_start(&options));
  std::int64_t cpus = -1, gpus = -1;
  CHECK_OK(tesela_workers(&cpus, &gpus));
  CHECK((cpus == 1 && gpus == 0));
  CHECK(tesela_start(nullptr) == TESELA_LIFETIME);
  CHECK(std::string(tesela_version()).find('.') != std::string::npos);
  CHECK_OK(tesela_stop());
  // A struct of an older version, without the members after the cores.
  options.size = 16;
  options.scheduler = "no-such-scheduler";
  CHECK_OK(tesela_start(&options));
  CHECK_OK(tesela_stop());
}
