// The start of tesela-simulated. StarPU's library has a main() that starts SimGrid and calls starpu_main() as a part of
// the simulation. The linker gives the program's own main() the name __real_main.

#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <signal.h>
#include <vector>

extern "C" {

// A peer in a build with CUDA names these functions, which StarPU over SimGrid lacks. A simulation calls no peer.
[[noreturn]] void starpu_cublas_get_local_handle() { std::abort(); }
[[noreturn]] void starpu_cublas_report_error() { std::abort(); }

int __real_main(int argc, char** argv);

static struct sigaction interrupt_before_simgrid;

int starpu_main(int argc, char** argv) {
  // SimGrid's handler of SIGINT calls exit() within the simulation, which aborts.
  sigaction(SIGINT, &interrupt_before_simgrid, nullptr);
  return __real_main(argc, argv);
}

int __wrap_main(int argc, char** argv) {
  sigaction(SIGINT, nullptr, &interrupt_before_simgrid);
  static char quiet[] = "--log=root.thres:warning";  // SimGrid takes it out of the words
  static std::vector<char*> words(argv, argv + argc);
  words.insert(words.begin() + 1, quiet);
  words.push_back(nullptr);
  const auto start = reinterpret_cast<int (*)(int, char**)>(dlsym(RTLD_NEXT, "main"));
  if (start != nullptr) return start(argc + 1, words.data());
  std::fputs("tesela-simulated: its StarPU does not run over SimGrid\n", stderr);
  return 3;
}
}
