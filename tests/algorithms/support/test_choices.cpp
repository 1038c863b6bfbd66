#include <tesela/tesela.hpp>

#include <catch2/catch_test_macros.hpp>

#include <set>

using namespace tesela;

// Names with which commands and other languages select methods and test matrices.

namespace {

template <class E>
void check_names(std::span<const Named<E>> all, std::size_t count) {
  CHECK(all.size() == count);
  std::set<std::string> names;
  std::set<E> values;
  for (const Named<E>& one : all) {
    CAPTURE(one.name);
    CHECK(names.insert(one.name).second);
    CHECK(values.insert(one.value).second);
    CHECK(!std::string(one.about).empty());
    CHECK(find_named(all, one.name) == one.value);
    CHECK(name_of(all, one.value) == one.name);
  }
  CHECK(!find_named(all, "willow"));
}

}  // namespace

TEST_CASE("every choice has a unique name and text") {
  check_names(gemm_kernels(), 7);
  check_names(spectrum_methods(), 3);
  check_names(lanczos_tasks(), 3);
  check_names(toeplitz_solvers(), 2);
  check_names(toeplitz_methods(), 10);
  check_names(tridiagonal_kinds(), 5);
  check_names(tridiagonal_methods(), 11);
  check_names(eig_methods(), 5);
}

TEST_CASE("kinds of Toeplitz matrices are found by name") {
  const auto is = [](const char* text, ToeplitzKind kind, double parameter = 0) {
    CAPTURE(text);
    const ToeplitzGenerator got = parse_toeplitz_kind(text);
    CHECK((got.kind == kind && got.parameter == parameter));
  };
  is("random", ToeplitzKind::random);
  is("spd", ToeplitzKind::spd);
  is("second-difference", ToeplitzKind::second_difference);
  is("singular-minors", ToeplitzKind::singular_minors);
  is("prolate:0.25", ToeplitzKind::prolate, 0.25);
  is("kms:-0.5", ToeplitzKind::kms, -0.5);
  for (const char* wrong : {"", "odd", "kms", "kms:", "kms:1", "kms:-1", "kms:nan", "kms:0.5x", "kms0.5", "prolate:0",
                            "prolate:0.5", "random:1", "spd:", "randomly"}) {
    CAPTURE(wrong);
    CHECK_THROWS_AS(parse_toeplitz_kind(wrong), ArgumentError);
  }
}

TEST_CASE("kinds of dense matrices are found by name") {
  CHECK(parse_random_kind("uniform").pattern == Pattern::uniform);
  CHECK(parse_random_kind("zero").pattern == Pattern::constant);
  CHECK(parse_random_kind("band:3").half_width == 3);
  CHECK(parse_random_kind("kappa:1e6").condition == 1e6);
  CHECK(parse_random_kind("rank:0").rank == 0);
  CHECK(!parse_random_kind("rank:0").elementwise());
  const HostMatrix<double> a = generate<double>({7, 4}, parse_random_kind("index"), 1);
  CHECK((a(0, 3) == 3 && a(6, 3) == 27));
  for (const char* wrong : {"", "gaussian", "band", "band:-1", "kappa:0.5", "kappa:inf", "rank:1.5", "uniform:2"})
    CHECK_THROWS_AS(parse_random_kind(wrong), ArgumentError);
}
