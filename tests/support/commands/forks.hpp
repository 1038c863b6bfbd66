#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>
#include <vector>

// Requests of a test to tesela-forks (tests/support/commands/forks.cpp) through a socket, one command at a time.

namespace tesela::test {

inline constexpr int fork_socket = 3;  ///< descriptor in tesela-forks

struct ForkRequest {
  int out = -1, err = -1;  ///< descriptors for the command's output
  std::uint64_t largest_file = 0;
  std::string folder;
  std::vector<std::string> environment, words;
};

/// Sent twice: at the start and at the end of the command.
struct ForkReply {
  pid_t pid = -1;
  int status = 0;
  rusage usage = {};
};

inline bool write_all(int descriptor, const void* data, std::size_t bytes) {
  const auto* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t some = send(descriptor, at, bytes, MSG_NOSIGNAL);
    if (some <= 0) return false;
    at += some;
    bytes -= static_cast<std::size_t>(some);
  }
  return true;
}

inline bool read_all(int descriptor, void* data, std::size_t bytes) {
  auto* at = static_cast<char*>(data);
  while (bytes > 0) {
    const ssize_t some = read(descriptor, at, bytes);
    if (some <= 0) return false;
    at += some;
    bytes -= static_cast<std::size_t>(some);
  }
  return true;
}

/// The descriptors are sent with these numbers; then follow all strings, each ended by a zero.
struct ForkHeader {
  std::uint64_t bytes = 0, environment = 0, largest_file = 0;
};

/// The message of a header, with room for two descriptors.
struct ForkMessage {
  ForkHeader header = {};
  iovec part{&header, sizeof header};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(2 * sizeof(int))> control{};
  msghdr message{};
  ForkMessage() {
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
  }
  ForkMessage(const ForkMessage&) = delete;
  ForkMessage& operator=(const ForkMessage&) = delete;
};

inline bool send_request(int descriptor, const ForkRequest& request) {
  std::string strings = request.folder + '\0';
  for (const auto& list : {request.environment, request.words})
    for (const std::string& one : list) strings += one + '\0';
  ForkMessage begin;
  begin.header = {strings.size(), request.environment.size(), request.largest_file};
  cmsghdr* const descriptors = CMSG_FIRSTHDR(&begin.message);
  descriptors->cmsg_level = SOL_SOCKET;
  descriptors->cmsg_type = SCM_RIGHTS;
  descriptors->cmsg_len = CMSG_LEN(2 * sizeof(int));
  const std::array<int, 2> both{request.out, request.err};
  std::memcpy(CMSG_DATA(descriptors), both.data(), sizeof both);
  return sendmsg(descriptor, &begin.message, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof begin.header) &&
         write_all(descriptor, strings.data(), strings.size());
}

inline bool receive(int descriptor, ForkRequest& request) {
  ForkMessage begin;
  if (recvmsg(descriptor, &begin.message, MSG_WAITALL) != static_cast<ssize_t>(sizeof begin.header)) return false;
  const cmsghdr* const descriptors = CMSG_FIRSTHDR(&begin.message);
  if (descriptors == nullptr || descriptors->cmsg_type != SCM_RIGHTS) return false;
  std::array<int, 2> both{};
  std::memcpy(both.data(), CMSG_DATA(descriptors), sizeof both);
  const ForkHeader& header = begin.header;
  request = {both[0], both[1], header.largest_file, {}, {}, {}};
  std::string strings(header.bytes, '\0');
  if (!read_all(descriptor, strings.data(), strings.size())) return false;
  std::vector<std::string> all;
  for (std::size_t at = 0; at < strings.size(); at += all.back().size() + 1) all.emplace_back(strings.c_str() + at);
  if (all.size() < 1 + header.environment) return false;
  request.folder = all.front();
  const auto words = all.begin() + 1 + static_cast<std::ptrdiff_t>(header.environment);
  request.environment.assign(all.begin() + 1, words);
  request.words.assign(words, all.end());
  return true;
}

}  // namespace tesela::test
