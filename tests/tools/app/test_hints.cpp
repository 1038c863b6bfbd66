// Words that a command does not know, and input that contradicts itself.

#include "tests/support/commands/command.hpp"
#include "tests/support/files.hpp"

#include <utility>

using namespace tesela::test;

namespace {

void says(const Words& words, const std::string& text) {
  const Outcome run = run_tesela(words);
  CAPTURE(words, run.err);
  CHECK(run.code == 2);
  CHECK_THAT(run.err, ContainsSubstring(text));
}

}  // namespace

TEST_CASE("a wrong word is answered with what exists") {
  says({"solve"}, "'solve' is not a command: lu (any square matrix), cholesky");
  says({"sem", "d.csv", "y ~ x", "--out", "iv.npy"}, "--out: 'iv.npy': a table with names ends in .csv or .txt");
  says({"gesdd"}, "svd; ols solves problems of any rank");
  says({"dgesv"}, "lu (any square matrix)");
  says({"chlesky"}, "did you mean 'cholesky'?");
  says({"qr", "--mm", "10"}, "qr: '--mm' is not an option (did you mean --m?); see tesela qr --help");
  says({"ols", "--methd=x", "--xyzxyz"}, "'--methd' is not an option (did you mean --method?), '--xyzxyz' is not an");
  says({"toeplitz", "eig", "--smallets", "3"}, "(did you mean --smallest?)");
  says({"qr", "--n", "4", "five"}, "qr: unexpected 'five'");
  const TemporaryFolder folder;
  const std::string a = file_in(folder, "a.txt", "1\n");
  says({"lu", a}, "lu: unexpected '" + a + "': name its option, as in --a " + a + "; see tesela lu --help");
  says({"lu", "--a", a, a}, "as in --b " + a);
  says({"OLS", "--n", "4"}, "'OLS' is not a command, did you mean 'ols'?");
  says({"Cholesky"}, "did you mean 'cholesky'?");
  says({"SVD"}, "did you mean 'svd'?");
  says({"qr", "--N", "4"}, "'--N' is not an option (did you mean --n?)");
  says({"--versoin"}, "'--versoin' is not an option (did you mean --version?); see tesela --help");
  says({"toeplitz", "--hlep"}, "'--hlep' is not an option (did you mean --help?); see tesela toeplitz --help");
}

TEST_CASE("options of other tools get a hint") {
  says({"sem", "d.csv", "y ~ x", "--robust"}, "sem: '--robust' is not an option (did you mean --cov robust?); see");
  says({"sem", "--cluster", "firm"}, "(did you mean --cov cluster:COLUMN?)");
  says({"ols", "d.csv", "y ~ x", "--cov", "robust"},
       "'--cov' is not an option: standard errors are classical here, `tes");
  says({"ols", "--robust"}, "--method ols --cov robust` has robust ones");
  says({"ols", "--weights", "w"}, "'--weights' is not an option: `tesela wls` has weights; see tesela ols --help");
  says({"wls", "--w", "w.npy"}, "(did you mean --weights?)");
  says({"ols", "--formula", "y ~ x"}, "(did you mean --model?)");
  says({"ols", "--X", "x.npy", "--y", "y.npy"},
       "'--X' is not an option (did you mean --a?), '--y' is not an option (did");
  says({"ols", "--lambda", "1"}, "(did you mean --ridge?)");
  says({"ols", "--lasso", "1"}, "there is no l1 penalty");
  says({"wls", "--ridge", "1"}, "`tesela ols` has --ridge");
  says({"sem", "--instruments", "z"}, "instruments belong to the model: 'y ~ x | z'");
  says({"qr", "--scheduler", "lws"}, "(did you mean --sched? STARPU_SCHED sets it as well)");
  says({"lu", "--n_jobs=4"}, "'--n_jobs' is not an option (did you mean --ncpu?)");
  says({"eig", "--k", "3"}, "'--k' is not an option (did you mean --smallest K or --largest K?)");
  says({"eig", "-k", "3"}, "'-k' is not an option (did you mean --smallest K or --largest K?)");
  says({"toeplitz", "solve", "--column", "c.txt", "--r", "r.txt"},
       "--t?), '--r' is not an option (did you mean --row?)");
  says({"toeplitz", "solve", "--c", "c.txt"}, "'--c' is not an option (did you mean --t?)");
  says({"toeplitz", "--t", "t.txt"}, "'--t' is an option of toeplitz ");
  says({"mimo", "--h=h.npy"}, "'--h' is an option of mimo detect");
  says({"--n", "5"}, "tesela: '--n' is an option: it follows the command, as in `tesela ");
  for (const char* const option : {"--k", "-k", "--nev", "--n-components"})
    says({"svd", option, "3"}, "(did you mean --largest K?)");
  says({"svd", "--vectors"}, "U and V belong to the result, --values leaves them out");
  says({"svd", "--no-vectors"}, "(did you mean --values?)");
  says({"svd", "--full-matrices"}, "(did you mean --full?)");
  says({"svd", "--economy"}, "this is the default, --full has square U and V");
  says({"svd", "--vt", "v.npy"}, "(did you mean --out-v? for V, not V^T)");
  says({"svd", "--u", "u.npy"}, "(did you mean --out-u?)");
  says({"svd", "--out-s", "s.npy"}, "(did you mean --out?)");
  says({"svd", "--tol", "1e-9"}, "there is no tolerance, --largest K keeps K values");
  says({"prcomp"}, "'prcomp' is not a command: pca");
  says({"ridge"}, "ols --ridge");
  says({"pinv"}, "Python's tesela.pinv");
  says({"mimo", "detect", "--snr", "9"}, "(did you mean --ebn0 or, with --h, --n0?)");
  says({"sem", "--cov", "HC1"}, "(HC0 is --cov robust, HC1 --cov robust --dof small)");
  says({"qr", "--z", "5"}, "qr: '--z' is not an option; see");  // one letter is similar to every other
}

TEST_CASE("random numbers do not replace a missing file") {
  const TemporaryFolder folder;
  const std::string a = file_in(folder, "a.txt", "2 1\n1 2\n"), v = file_in(folder, "v.txt", "5\n6\n"),
                    e = file_in(folder, "e.txt", "1\n");
  for (const char* command : {"lu", "cholesky"}) {
    says({command, "--b", v}, std::string(command) + ": --a: is missing: name its file, or --n N for a random matrix");
    CHECK(run_tesela({command, "--a", a}).code == 0);
    CHECK(run_tesela({command, "--n", "2", "--b", v}).code == 0);
  }
  const Words tridiag{"tridiag", "--d", v, "--dl", e, "--du", e}, toeplitz{"toeplitz", "solve", "--t", v};
  for (const Words& words : {tridiag, toeplitz}) {
    says(words, "--b: is missing: name its file, or --rhs K for K random right-hand sides");
    CHECK(run_tesela(words + Words{"--rhs", "1"}).code == 0);
    CHECK(run_tesela(words + Words{"--known"}).code == 0);
    CHECK(run_tesela(words + Words{"-b", v}).code == 0);
  }
  says({"toeplitz", "solve", "-b", v}, "--t: is missing: name its file, or --n N for a random matrix");
  says({"eig", "--b", a}, "eig: --a: is missing: name its file, or --n N for a random matrix");
  says({"gemm", "-a", a}, "gemm: --b: is missing: name its file, or --n N or --random KIND for random numbers");
  says({"gemm", "-b", a}, "gemm: --a: is missing: name its file, or --m M or --random KIND for random numbers");
  says({"gemm", "-a", a, "-b", a, "--beta", "1"}, "gemm: --c: is missing: name its file, or --random KIND");
  CHECK(run_tesela({"gemm", "-a", a, "-b", a}).code == 0);
  CHECK(run_tesela({"gemm", "-a", a, "--n", "3"}).code == 0);
}

TEST_CASE("values of other tools are accepted or named") {
  const TemporaryFolder folder;
  const std::string b = file_in(folder, "b.txt", "1\n2\n"),
                    t = file_in(folder, "t.csv", "price,rooms\n1,2\n3,4\n5,7\n");
  says({"lu", "--n", "2", "--rhs", b}, "'" + b + "' is not a number of 0 or more: name its option, as in --b " + b);
  says({"tridiag", "--n", "2", "--rhs", b}, "name its option, as in --b " + b);
  says({"svd", "--n", "2", "--largest", "0"}, "--largest");
  says({"trace", folder / "nix"}, "nix: no such folder");
  says({"trace", b}, "is a file, not a trace's folder");
  says({"trace", folder.path()}, "paje.trace and tasks.rec are missing");
  says({"trace", folder.path(), folder.path(), "--out", "compare.png"}, "'compare.png': a picture ends in .svg");
  for (const Words& words : {Words{"trace", folder.path()}, Words{"qr", "--n", "4"}})
    says(words + Words{"--report", "run.pdf"}, "'run.pdf': a page ends in .html or .htm");
  says({"eig", "--n", "4", "--precision", "half"},
       "eig: --precision: 'half' is none of s, d, c, z; see tesela eig --help");
  for (const char* const precision : {"single", "float32", "double", "float64"})
    CHECK(run_tesela({"lu", "--n", "4", "--precision", precision}).code == 0);
  says({"ols", t, "price", "~", "rooms"}, "ols: unexpected '~': quote a formula, as in \"y ~ x1 + x2\"");
  says({"ols", t, "price = rooms"}, "price = rooms: is neither a file nor a formula, such as \"y ~ x1 + x2\"");
  says({"ols", t, "Price ~ rooms"}, "has no column Price; did you mean price? it has price, rooms");
  says({"ols", t, "price ~ room"}, "has no column room; did you mean rooms? it has");
  says({"ols", t, "price ~ floor"}, "has no column floor; it has price, rooms");
  says({"tridiag", "--a", b}, "the diagonals come from files, --dl, --d and --du");
  says({"qr", "--n", "4", "--out", "x.npy"}, "(did you mean --out-q?)");
  for (const char* const name : {"16qam", "16QAM", "16-QAM", "QAM16", "qam-16"})
    CHECK(run_tesela({"mimo", "detect", "--nt", "2", "--signals", "5", "--constellation", name}).code == 0);
  says({"mimo", "detect", "--nt", "2", "--constellation", "32qam"}, "'32qam' is none of bpsk");
}

TEST_CASE("sizes of generated input contradict files in every command") {
  const TemporaryFolder folder;
  const auto file = [&](const char* name, const char* text) { return file_in(folder, name, text); };
  const std::string a = file("a.txt", "4 1 0\n1 4 1\n0 1 4\n"), v = file("v.txt", "4\n1\n2\n"),
                    w = file("w.txt", "4\n1\n"), t = file("t.csv", "y,x\n1,2\n3,4\n5,7\n");
  const Words lu{"lu", "--a", a}, ols{"ols", "--a", a, "--b", v}, formula{"ols", t, "y ~ x"},
      tridiag{"tridiag", "--dl", w, "--d", v, "--du", w, "--b", v};
  for (const auto& [given, sizes] : std::vector<std::pair<Words, Words>>{
           {lu, {"--n", "--random"}},
           {{"cholesky", "--a", a}, {"--n", "--random"}},
           {{"lu", "--a", a, "--b", v}, {"--rhs"}},
           {{"qr", "--a", a}, {"--m", "--n", "--random"}},
           {{"gqr", "--a", a, "--b", a}, {"--m", "--n"}},
           {{"eig", "--a", a}, {"--n", "--random", "--scale"}},
           {{"eig", "--diagonal", v, "--off-diagonal", w}, {"--n", "--random", "--scale"}},
           {ols, {"--m", "--n", "--rhs", "--random"}},
           {formula, {"--m", "--n", "--rhs", "--random"}},
           {{"wls", t, "y ~ x"}, {"--m", "--n", "--rhs", "--random"}},
           {{"nnls", "--a", a, "--b", v}, {"--m", "--n", "--rhs", "--random"}},
           {tridiag, {"--n", "--batch", "--sizes", "--rhs", "--random"}},
           {{"toeplitz", "solve", "--t", v, "--b", v}, {"--n", "--rhs", "--random"}},
           {{"toeplitz", "eig", "--t", v}, {"--n", "--random"}},
           {{"sem", t, "y ~ x"}, {"--samples", "--endogenous", "--exogenous", "--included", "--noise"}},
           {{"gemm", "--a", a, "--b", a}, {"--m", "--n", "--k"}}})
    for (const std::string& size : sizes) {
      const Outcome run = run_tesela(given + Words{size, size == "--random" ? "uniform" : "7"});
      CAPTURE(given, size, run.out, run.err);
      CHECK(run.code == 2);
      CHECK(
          (run.err.find(size + " ") != std::string::npos || run.err.find("shapes of the others") != std::string::npos));
    }
}
