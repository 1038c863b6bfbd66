// Detects the symbols of four streams at four antennas: exactly, and with a likelihood for each bit.
#include <tesela/tesela.hpp>

#include <cstdio>

using namespace tesela;

int main() {
  Runtime runtime;
  Graph g(runtime);
  const MimoShape shape{.streams = 4, .antennas = 4, .signals = 2000, .coherence = 100};  // 20 channels
  const auto alphabets = parse_constellations("example", "16qam", shape.streams);
  const double n0 = noise_variance(12, alphabets);  // Eb/N0 of 12 dB

  const auto H = random_channels<double>(shape, parse_channel("example", "rayleigh"), 1);
  const auto sent = random_labels(shape, alphabets, 1);
  const auto y = received(shape, H, alphabets, sent, n0, 1);

  const auto count_errors = [&](const Detection& found) {
    int wrong = 0;
    for (index_t k = 0; k < shape.signals; ++k)
      for (index_t j = 0; j < shape.streams; ++j) wrong += found.labels(j, k) != sent(j, k);
    return wrong;
  };
  const Detection exact = mimo_detect(g, shape, H, y, alphabets, {.method = MimoMethod::sd, .n0 = n0});
  const Detection linear = mimo_detect(g, shape, H, y, alphabets, {.method = MimoMethod::mmse, .n0 = n0});
  std::printf("wrong symbols of 8000: %d by the nearest vector, %d by the linear estimate\n", count_errors(exact),
              count_errors(linear));

  const auto soft = mimo_soft(g, shape, H, y, alphabets, {.kind = SoftKind::sts, .n0 = n0});
  int agree = 0;  // L < 0 means that a bit is 1; a label's first bit is its most significant one
  for (index_t k = 0; k < shape.signals; ++k)
    for (index_t j = 0; j < shape.streams; ++j)
      for (index_t b = 0; b < 4; ++b)
        agree += (soft.llrs(4 * j + b, k) < 0) == ((exact.labels(j, k) >> (3 - b) & 1) == 1);
  std::printf("%d of 32000 bits have the sign of their L\n", agree);
  return exact.uncertified() == 0 && count_errors(exact) < count_errors(linear) && agree == 32000 ? 0 : 1;
}
