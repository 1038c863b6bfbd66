# cmake -D CXX=… -D "FLAGS=…" -D INCLUDE=… -D FOLDER=… -P refused_kernels.cmake
#
# Checks that the compiler refuses common errors in kernels with a sentence that explains the requirement.
cmake_minimum_required(VERSION 3.25)

separate_arguments(flags UNIX_COMMAND "${FLAGS}")
set(compiler ${CXX} -std=c++20 ${flags} -I${INCLUDE}/runtime -I${INCLUDE}/tiles -I${INCLUDE}/config)
file(WRITE ${FOLDER}/refused_kernel.hpp "#include <tesela/runtime/graph.hpp>
#include <tesela/tiles/tile_matrix.hpp>
#include <string>
")
# The compiler finds this precompiled header by its name, and reads the header itself if it cannot use it.
execute_process(COMMAND ${compiler} -x c++-header ${FOLDER}/refused_kernel.hpp -o ${FOLDER}/refused_kernel.hpp.gch
  COMMAND_ERROR_IS_FATAL ANY)

# Compiles a kernel with these members that is inserted with one tile, or with another argument in the last place. `sentence` must be in the first error; if empty,
# the kernel must compile.
function(compile what members sentence)
  set(argument a)
  if(ARGC GREATER 3)
    set(argument ${ARGV3})
  endif()
  file(WRITE ${FOLDER}/refused_kernel.cpp "using namespace tesela;
struct Args { int i = 0; };
struct K { static constexpr auto name = \"k\"; ${members} };
void use(Graph& g, const TileMatrix<double>& A, const Tile<double>& a) { g.insert<K>({}, ${argument}); }
")
  execute_process(COMMAND ${compiler} -fsyntax-only -include ${FOLDER}/refused_kernel.hpp ${FOLDER}/refused_kernel.cpp
    RESULT_VARIABLE code ERROR_VARIABLE errors OUTPUT_QUIET)
  string(REGEX MATCH "error: [^\n]*" first "${errors}")
  string(FIND "${first}" "${sentence}" found)
  if(sentence STREQUAL "" AND NOT code EQUAL 0)
    message(SEND_ERROR "${what} does not compile: ${errors}")
  elseif(NOT sentence STREQUAL "" AND (code EQUAL 0 OR found EQUAL -1))
    message(SEND_ERROR "${what}: expected \"${sentence}\", but the compiler reports: ${first}")
  endif()
endfunction()

set(args "using Args = ::Args;")
set(variant "a variant is static void cpu(const Args&, tiles...) or cuda(CudaContext&, const Args&, tiles...)")
set(by_value "a variant takes tiles by value")
compile("a kernel" "${args} static void cpu(const Args&, InOut<double>); static void cuda(CudaContext&, const Args&, InOut<double>);" "")
compile("a tile by reference" "${args} static void cpu(const Args&, const In<double>&);" "${by_value}")
compile("a pointer for a tile" "${args} static void cpu(const Args&, double*);" "${by_value}")
compile("Args by value" "${args} static void cpu(Args, InOut<double>);" "${variant}")
compile("a result" "${args} static int cpu(const Args&, InOut<double>);" "${variant}")
compile("a variant that is not static" "${args} void cpu(const Args&, InOut<double>);" "${variant}")
compile("a cuda variant without a context"
  "${args} static void cpu(const Args&, InOut<double>); static void cuda(const Args&, InOut<double>);"
  "a cuda variant, and no other, takes a CudaContext& first")
compile("variants that differ"
  "${args} static void cpu(const Args&, InOut<double>); static void cuda(CudaContext&, const Args&, In<double>);"
  "must take the same tiles in the same modes")
compile("a string in Args" "struct Args { std::string s; }; static void cpu(const Args&, InOut<double>);" "travel as bytes")
compile("another element type" "${args} static void cpu(const Args&, InOut<float>);" "element type differs")
compile("two tiles where one is given" "${args} static void cpu(const Args&, In<double>, Out<double>);"
  "one tile for each tile parameter")
compile("no variant" "${args}" "a kernel needs a cpu or a cuda variant")
compile("a matrix for a tile" "${args} static void cpu(const Args&, InOut<double>);" "insert takes tiles" A)
compile("a matrix for a list" "${args} static void cpu(const Args&, std::span<const In<double>>);" "insert takes tiles" A)
compile("a number for a tile" "${args} static void cpu(const Args&, InOut<double>);" "insert takes tiles" 1.0)
compile("a list" "${args} static void cpu(const Args&, std::span<const In<double>>);" "" "std::vector{a, a}")
