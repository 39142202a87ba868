// SPDX-License-Identifier: Apache-2.0
// A descriptor from which the application reads events: the completion channel and the asynchronous event file. A
// pipe stands for the kernel's queue; a record is one struct of the kernel's.
// Facts: ib_uverbs_comp_event_desc, ib_uverbs_async_event_desc [abi].
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <span>

#include "util/fd.h"

namespace marrow::cx7::abi {

class EventChannel {
 public:
  /// \param record_bytes  of each event; its first 8 bytes name the object it is about.
  /// Throws Errno (EMFILE, ENFILE, ...).
  explicit EventChannel(std::size_t record_bytes);

  /// The application's end. Call once, then it is the caller's to close or to pass on.
  [[nodiscard]] int release_read_end() { return read_end_.release(); }

  /// True when `fd` is a descriptor of this channel, a duplicated one too.
  [[nodiscard]] bool is(int fd) const;
  /// True when the application has closed every descriptor of it.
  [[nodiscard]] bool abandoned() const;

  /// Never blocks. False when nobody reads any more or the pipe is full: the event is lost, counted and logged once.
  bool post(std::span<const std::byte> record);
  /// Takes back what is not yet read about `element`; returns how many events that were.
  std::uint32_t remove(std::uint64_t element);

 private:
  std::size_t record_bytes_;
  util::UniqueFd read_end_;
  util::UniqueFd write_end_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  std::uint64_t lost_ = 0;
};

}  // namespace marrow::cx7::abi
