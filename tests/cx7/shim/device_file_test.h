// SPDX-License-Identifier: Apache-2.0
// What the tests of device files share.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <rdma/rdma_user_ioctl_cmds.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <string>

#include "cx7/shim/control.h"

namespace marrow::cx7 {

inline int open_device(int device) {
  return ::open(device == 0 ? "/dev/infiniband/uverbs0" : "/dev/infiniband/uverbs1", O_RDWR | O_CLOEXEC);
}

/// The errno of a verbs ioctl without arguments: EFAULT from a device of ours.
inline int probe(int fd) {
  return ::ioctl(fd, RDMA_VERBS_IOCTL, nullptr) == 0 ? 0 : errno;
}
inline bool answers(int fd) {
  return probe(fd) == EFAULT;
}

/// Devices whose doorbell pages are mapped by the engine's side in this process.
inline int living_devices() {
  std::ifstream maps("/proc/self/maps");
  int n = 0;
  for (std::string line; std::getline(maps, line);)
    n += line.find("/memfd:marrow-cx7-uverbs") != std::string::npos ? 1 : 0;
  return n;
}

union OneDescriptor {
  cmsghdr align;
  std::array<char, CMSG_SPACE(sizeof(int))> bytes;
};

inline bool send_descriptor(int socket, int fd) {
  char byte = 'd';
  iovec part{&byte, 1};
  OneDescriptor room{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = room.bytes.data();
  message.msg_controllen = room.bytes.size();
  room.align = {.cmsg_len = CMSG_LEN(sizeof fd), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
  std::memcpy(CMSG_DATA(&room.align), &fd, sizeof fd);
  return ::sendmsg(socket, &message, 0) == 1;
}

inline int receive_descriptor(int socket) {
  char byte = 0;
  iovec part{&byte, 1};
  OneDescriptor room{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = room.bytes.data();
  message.msg_controllen = room.bytes.size();
  int fd = -1;
  if (::recvmsg(socket, &message, 0) == 1) std::memcpy(&fd, CMSG_DATA(&room.align), sizeof fd);
  return fd;
}

class DeviceFileTest : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(marrow_cx7_enable(), 0) << marrow_cx7_error(); }
  void TearDown() override { marrow_cx7_disable(); }
};

}  // namespace marrow::cx7
