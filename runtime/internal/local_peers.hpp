#pragma once

#include <tesela/runtime/internal/device_copies.hpp>
#include <tesela/runtime/internal/messages.hpp>

#include <sys/types.h>
#include <vector>

// Ranks of one host that can read each other's memory. Not installed, the runtime's own.

namespace tesela::detail {

class LocalPeers {
 public:
  /// Who can read this rank's memory and be read by it, in host memory or in GPUs' too (TESELA_LOCAL_COPIES: 0 nobody,
  /// "host" without GPUs). All ranks call it alike.
  void find(Messages&, DeviceCopies&);
  void close() noexcept;

  bool any() const;
  bool has(int rank) const { return of(rank).pipe >= 0; }
  bool has_devices(int rank) const { return of(rank).devices; }

  /// A pipe of each: whole notes of up to 4096 bytes arrive, in order.
  void tell(int rank, const void* note, std::size_t bytes) const { write_to(of(rank).pipe, note, bytes); }
  void tell_itself(const void* note, std::size_t bytes) const { write_to(own_pipe_[1], note, bytes); }
  /// The next note that came, as long as this; false when it is another's length.
  bool hear(void* note, std::size_t bytes) const;

  /// Copies what lies so in another rank's host memory.
  bool read(int rank, const Runs& to, const std::byte* from, std::size_t stride) const;

 private:
  struct Peer {
    pid_t pid = 0;
    int pipe = -1;  ///< where it reads; -1: out of reach
    bool devices = false;
  };
  const Peer& of(int rank) const { return peers_[static_cast<std::size_t>(rank)]; }
  static void write_to(int pipe, const void* note, std::size_t bytes);

  std::vector<Peer> peers_;
  int own_pipe_[2] = {-1, -1};
};

}  // namespace tesela::detail
