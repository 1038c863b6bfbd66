#include "tests/support/test.hpp"
#include "tools/problems/dense/gemm.hpp"
#include "tools/problems/least_squares/ols.hpp"
#include "tools/problems/qr/qr.hpp"
#include "tools/problems/qr/tall_skinny_data.hpp"
#include <tesela/host/blas.hpp>
#include <tesela/host/lapack/lapack.hpp>

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
