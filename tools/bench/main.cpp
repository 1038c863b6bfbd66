// The program tesela-bench. `tesela bench …` runs it with its own arguments; called by its own name it needs no
// "bench".
#include "tools/app/program.hpp"

using namespace tesela::cli;

int main(int argc, char** argv) {
  std::vector<std::string> words = words_of(argc, argv);
  if (const auto command = command_in(words); command == words.end() || *command != "bench")
    words.insert(command, "bench");
  end_program(run_program(std::move(words)));
}
