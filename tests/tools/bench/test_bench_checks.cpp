#include "tests/support/test.hpp"
#include "tools/bench/givens/givens_rows.hpp"
#include "tools/problems/dense/gemm.hpp"
#include "tools/problems/least_squares/ols.hpp"
#include "tools/problems/qr/qr.hpp"
#include "tools/problems/qr/tall_skinny_data.hpp"
#include <tesela/host/blas.hpp>
#include <tesela/host/lapack/lapack.hpp>
#include <tesela/tiles/filled.hpp>

using namespace tesela;

TEST_CASE("peers run in turn after a warm-up each, and a failed verification stops all") {
  std::string order;
  const auto peer = [&](const char* name) {
    return bench::Peer{name, [&order, name] { return order += name, 1.0; },
                       [&order, name] { return order += '!', order += name, 0.25; }};
  };
  const auto timings = bench::alternate({peer("a"), peer("b"), peer("c")}, 2);
  CHECK(order ==
        "!aa!bb!cc"
        "abcabc");
  REQUIRE(timings.size() == 3);
  CHECK(timings[1].peer == "b");
  CHECK(timings[1].seconds == std::vector{1.0, 1.0});
  CHECK(timings[1].error == 0.25);

  bench::Peer wrong = peer("w");
  wrong.verify = []() -> double { throw bench::WrongResult("wrong"); };
  order.clear();
  CHECK_THROWS_AS(bench::alternate({peer("a"), wrong}, 2), bench::WrongResult);
  CHECK(order == "!aa");
}

TEST_CASE("a peer without memory is skipped, and a long verified run counts as the first") {
  std::string order;
  bench::Peer slow{"slow", [&] { return order += 's', 30.0; }, [&] { return order += "!s", 0.5; },
                   std::make_shared<double>(31)};
  const bench::Peer large{.name = "large", .run = {}, .absent = "no room"};
  const bench::Peer fast{"fast", [&] { return order += 'f', 1.0; }};
  const auto timings = bench::alternate({slow, large, fast}, 2);
  CHECK(order == "!sffsf");
  CHECK(timings[0].seconds == std::vector{31.0, 30.0});
  CHECK(timings[1].seconds.empty());
  CHECK(timings[1].remark == "no room");
  CHECK(timings[2].seconds == std::vector{1.0, 1.0});
}

TEST_CASE("median, minimum and maximum are correct for odd and even numbers of runs") {
  const bench::Timing odd{"p", {5, 1, 9}, 0}, even{"p", {8, 1, 2, 4}, 0};
  CHECK(odd.median() == 5);
  CHECK(odd.min() == 1);
  CHECK(odd.max() == 9);
  CHECK(even.median() == 3);
}

TEST_CASE("a gemm peer that leaves C unchanged or has a wrong term or tile is found") {
  Runtime runtime({.cpus = 1, .gpus = 0});
  const index_t m = 37, n = 29, k = 41;
  cli::GemmProblem<double> p{.m = m, .n = n, .k = k, .options = {.tile = {16, 16, 16}}, .seed = 5, .runtime = &runtime};
  p.generate_uniform(false);
  const auto verify = [&](const char* name, index_t inner, const auto& change) {
    p.restore(false);
    blas::gemm<double>(Op::none, Op::none, m, n, inner, 1, p.a.data(), m, p.b.data(), k, 0, p.c.data(), m);
    change();
    return check_peer<double>(name, p, [&](index_t i, index_t j) { return p.c(i, j); });
  };
  CHECK(verify("right", k, [] {}) <= 1);
  CHECK_THROWS_AS(verify("idle", k, [&] { p.restore(false); }), bench::WrongResult);
  CHECK_THROWS_AS(verify("short", k - 1, [] {}), bench::WrongResult);
  CHECK_THROWS_AS(verify("corner", k, [&] { p.c(m - 1, n - 1) += 1e-6; }), bench::WrongResult);
  // One tile of the result is scaled, as if a task had been lost.
  const auto scale_tile = [&] {
    for (index_t j = 16; j < n; ++j)
      for (index_t i = 16; i < 32; ++i) p.c(i, j) *= 0.999;
  };
  CHECK_THROWS_AS(verify("tile", k, scale_tile), bench::WrongResult);
  const auto solver = find_method(cli::gemm_table<double>(), "starpu").solver(p);
  solver.prepare();
  Graph g(runtime);
  solver.run(&g);
  solver.finish();
  CHECK(check_peer("starpu", p, solver.result()) <= 1);
}

TEST_CASE("a qr peer with wrong factors is found") {
  Runtime runtime({.cpus = 1, .gpus = 0});
  cli::QrProblem<double> problem{{}, "16", {60, 40}, 3, &runtime};
  problem.generate_uniform(false);
  HostMatrix<double> factors = problem.a.clone();
  std::vector<double> tau(40);
  lapack::geqrf(60, 40, factors.data(), 60, tau.data());
  const auto multiply = [&](HostMatrix<double>& c, index_t columns) {
    lapack::ormqr(Op::none, 60, columns, 40, factors.data(), 60, tau.data(), c.data(), 60);
  };
  const auto check = [&](HostMatrix<double>& r, const auto& multiply_q) {
    return check_peer<double>("peer", problem, {.r = &r, .multiply_q = multiply_q});
  };
  CHECK(check(factors, multiply) <= 1);
  CHECK_THROWS_AS(check(problem.a, [](HostMatrix<double>&, index_t) {}), bench::WrongResult);
  HostMatrix<double> r = factors.clone();
  r(39, 39) += 1e-10;
  CHECK_THROWS_AS(check(r, multiply), bench::WrongResult);
  tau[39] *= 1 + 1e-9;
  CHECK_THROWS_AS(check(factors, multiply), bench::WrongResult);
  CHECK(check_peer<double>("R alone", problem, {.r = &factors}) <= 1);
  r(39, 39) += 1e-7;
  CHECK_THROWS_AS(check_peer<double>("R alone", problem, {.r = &r}), bench::WrongResult);
  CHECK_THROWS_AS(check_peer<double>("idle", problem, {.r = &problem.a}), bench::WrongResult);
}

TEST_CASE("bands and Q by rotations are checked") {
  Runtime runtime({.cpus = 2, .gpus = 0});
  for (const index_t half_width : {-1, 2}) {
    cli::QrProblem<double> problem{{}, "16x8", {50, 50}, 3, &runtime, true, half_width};
    problem.generate_uniform(false);
    CHECK((half_width < 0 || problem.a(10, 20) == 0));
    const auto solver = by_rotations(problem, {GivensMethod::chain});
    solver.prepare();
    Graph g(runtime);
    solver.run(&g);
    g.wait();
    solver.finish();
    cli::QrFactors<double> factors = solver.result();
    CHECK(check_peer("chain", problem, factors) <= 1);
    factors.multiply_q = {};
    CHECK(check_peer("chain, Q", problem, factors) <= 1);
  }
}

TEMPLATE_TEST_CASE("factors on the workers are checked where they are, and one wrong element is found", "", float,
                   double, std::complex<double>) {
  using T = TestType;
  Runtime runtime({.cpus = 2, .gpus = 0});
  const auto [row, half_width, tile] = GENERATE(table<const char*, index_t, const char*>({{"chain", -1, "60x60"},
                                                                                          {"chain", 2, "16x8"},
                                                                                          {"band", 1, "16x8"},
                                                                                          {"band", 3, "60x60"},
                                                                                          {"tiles", -1, "16x8"}}));
  CAPTURE(row, half_width, tile);
  const bool band = row == std::string("band"), tiles = row == std::string("tiles");
  const index_t n = 60;
  cli::QrProblem<T> problem{{}, tile, {n, n}, 3, &runtime, !tiles, half_width};
  problem.generate_uniform(true);
  const auto method = band    ? bench::band_row<T>()
                      : tiles ? find_method(cli::qr_table<T>(), "tiles")
                              : find_method(cli::qr_table<T>(), "givens-chain");
  const auto solver = method.solver(problem);
  solver.prepare();
  {
    Graph g(runtime);
    solver.run(&g);
    g.wait();
  }
  cli::QrFactors<T> right = solver.result();
  REQUIRE((right.r == nullptr && right.multiply_r && right.multiply_q));
  CHECK(check_peer("all of R and Q", problem, right) <= 1);
  HostMatrix<T> r(n, n), q(n, n);
  right.read(0, r);
  right.form_q(q, n);
  CHECK(qr_error(problem.a, r, q).backward <= qr_bounds<T>(n, n).backward);
  right.read = {};  // R stays where it is
  right.form_q = {};
  const auto fails = [&](const cli::QrFactors<T>& factors) {
    const QrError error = cli::QrCheck<T>(problem, factors, std::nullopt).error();
    const QrBounds most = qr_bounds<T>(n, n);
    return !(error.finite && error.backward <= most.backward && error.orthogonality <= most.orthogonality);
  };
  CHECK(!fails(right));
  const real_t<T> change = sizeof(real_t<T>) == 8 ? real_t<T>(1e-9) : real_t<T>(1e-2);
  for (const auto& [i, j] : {std::pair<index_t, index_t>{0, 0}, {7, 40}, {59, 59}}) {
    CAPTURE(i, j);
    // An element of R or of Q is changed: row i of the product by change times row j of the factor.
    cli::QrFactors<T> wrong = right;
    wrong.multiply_r = [&, i = i, j = j](const HostMatrix<T>& c) {
      HostMatrix<T> product = right.multiply_r(c);
      for (index_t v = 0; v < c.cols(); ++v) product(i, v) += change * c(j, v);
      return product;
    };
    CHECK(fails(wrong));
    wrong = right;
    wrong.multiply_q = [&, i = i, j = j](HostMatrix<T>& c, index_t columns) {
      const HostMatrix<T> before = c.clone();
      right.multiply_q(c, columns);
      for (index_t v = 0; v < columns; ++v) c(i, v) += change * before(j, v);
    };
    CHECK(fails(wrong));
  }
  cli::QrFactors<T> nan = right;
  nan.multiply_r = [&](const HostMatrix<T>& c) {
    HostMatrix<T> product = right.multiply_r(c);
    product(3, 0) = std::numeric_limits<real_t<T>>::quiet_NaN();
    return product;
  };
  CHECK(fails(nan));
}

TEST_CASE("a product by tiles equals BLAS, and a changed element of a tile changes it") {
  Runtime runtime({.cpus = 2, .gpus = 0});
  const auto [m, n] = GENERATE(Shape{50, 50}, Shape{30, 41}, Shape{1, 5});
  const TileShape tile = GENERATE(TileShape{64, 64}, TileShape{16, 8}, TileShape{50, 7});
  const auto a = generate<double>({m, n}, {Pattern::uniform, 0, n, 3, m}),
             c = generate<double>({n, 6}, {Pattern::uniform, 0, 6, 4, n});
  const TileMatrix<double> A(runtime, m, n, tile);
  A.copy_from(a.data(), a.ld());
  const auto largest = [&](const HostMatrix<double>& b) {
    HostMatrix<double> d = cli::product(runtime, A, c);
    REQUIRE(d.shape() == Shape{b.rows(), c.cols()});
    blas::gemm<double>(Op::none, Op::none, d.rows(), d.cols(), n, -1, b.data(), b.ld(), c.data(), c.ld(), 1, d.data(),
                       d.ld());
    return std::abs(
        *std::max_element(d.data(), d.data() + d.size(), [](double x, double y) { return std::abs(x) < std::abs(y); }));
  };
  CHECK(largest(a) <= 1e-14);
  A((m - 1) / tile.mb, (n - 1) / tile.nb).write()((m - 1) % tile.mb, (n - 1) % tile.nb) += 0.5;
  CHECK(largest(a) > 0.01);
}

TEST_CASE("a large qr is checked on a sample of columns, and wrong factors are found") {
  Runtime runtime({.cpus = 1, .gpus = 0});
  const index_t m = GENERATE(90, 64, 40), n = 64;
  cli::QrProblem<double> problem{{}, "16", {m, n}, 3, &runtime};
  problem.checked_whole = 100;
  problem.generate_uniform(false);
  REQUIRE(problem.sampled());
  HostMatrix<double> factors = problem.a.clone();
  std::vector<double> tau(static_cast<std::size_t>(std::min(m, n)));
  lapack::geqrf(m, n, factors.data(), m, tau.data());
  std::vector<index_t> read;
  const auto columns_of = [&](const HostMatrix<double>& r) {
    return [&](index_t first, HostMatrix<double>& to) {
      for (index_t j = 0; j < to.cols(); ++j) {
        read.push_back(first + j);
        std::copy_n(&r(0, first + j), m, &to(0, j));
      }
    };
  };
  const auto multiply = [&](HostMatrix<double>& c, index_t columns) {
    lapack::ormqr(Op::none, m, columns, std::min(m, n), factors.data(), m, tau.data(), c.data(), m);
  };
  const auto check = [&](const HostMatrix<double>& r, const auto& multiply_q) {
    return check_peer<double>("peer", problem, {.read = columns_of(r), .multiply_q = multiply_q});
  };
  const double error = check(factors, multiply);
  CHECK((error > 0 && error <= 1));
  REQUIRE(read.size() == 16);
  CHECK(std::is_sorted(read.begin(), read.end()));
  CHECK(read.back() == n - 1);
  CHECK_THROWS_AS(check(problem.a, [](HostMatrix<double>&, index_t) {}), bench::WrongResult);
  for (const index_t column : std::vector(read.begin(), read.begin() + 16)) {
    HostMatrix<double> r = factors.clone();
    r(std::min(column, m - 1), column) += 1e-8;
    CHECK_THROWS_AS(check(r, multiply), bench::WrongResult);
  }
  HostMatrix<double> below = factors.clone();
  for (index_t j = 0; j < n; ++j)
    for (index_t i = j + 1; i < m; ++i) below(i, j) = std::nan("");
  CHECK(check(below, multiply) <= 1);
  tau[tau.size() - 2] *= 1 + 1e-9;
  CHECK_THROWS_AS(check(factors, multiply), bench::WrongResult);
}

TEST_CASE("an ols peer with a wrong solution is found") {
  Runtime runtime({.cpus = 1, .gpus = 0});
  cli::OlsProblem<double> problem{{}, 0, "16", {60, 20}, 2, 1, &runtime};
  problem.generate_uniform(false);
  const auto solver = find_method(cli::ols_table<double>(), "lapack").solver(problem);
  solver.prepare();
  solver.run(nullptr);
  LeastSquares<double> answer = solver.result();
  CHECK(check_peer("right", problem, answer) <= 1);
  answer.X(19, 0) += 1e-10;
  CHECK_THROWS_AS(check_peer("element", problem, answer), bench::WrongResult);
  std::copy_n(problem.b.data(), 20, answer.X.data());
  CHECK_THROWS_AS(check_peer("idle", problem, answer), bench::WrongResult);
  answer = solver.result();
  answer.status = SolveStatus::rank_deficient;
  CHECK_THROWS_AS(check_peer("rank", problem, answer), bench::WrongResult);
}

TEST_CASE("a tall and skinny R without a row or with a wrong digit is found, for any signs") {
  Runtime runtime({.cpus = 1, .gpus = 0});
  const index_t m = 9001, n = 5;
  const bench::TallSkinnyData<double> data(runtime, {.m = m, .n = n, .rows = 1000, .seed = 3});
  const auto r_of = [&](index_t rows) {
    HostMatrix<double> a(m, n);
    std::copy_n(data.a(), a.size(), a.data());
    std::vector<double> tau(n);
    lapack::geqrf(rows, n, a.data(), m, tau.data());
    auto r = HostMatrix<double>::zeros(n, n);
    for (index_t j = 0; j < n; ++j) std::copy_n(&a(0, j), j + 1, &r(0, j));
    return r;
  };
  HostMatrix<double> r = r_of(m);
  for (index_t j = 0; j < n; ++j) r(1, j) = -r(1, j);
  CHECK(data.check("right", r) <= 1);
  CHECK_THROWS_AS(data.check("short", r_of(m - 1)), bench::WrongResult);
  CHECK_THROWS_AS(data.check("idle", HostMatrix<double>::zeros(n, n)), bench::WrongResult);
  r(4, 0) = 1e-5;
  CHECK_THROWS_AS(data.check("below the diagonal", r), bench::WrongResult);
  r(4, 0) = 0;
  r(2, 4) *= 1 + 1e-9;
  CHECK_THROWS_AS(data.check("digit", r), bench::WrongResult);
  r(2, 4) = std::nan("");
  CHECK_THROWS_AS(data.check("NaN", r), bench::WrongResult);
}
