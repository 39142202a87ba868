// SPDX-License-Identifier: Apache-2.0
// The doorbell register of a queue, and memory that the firmware may name: UAR and umem.
#pragma once

#include <cstdint>

#include "marrow/gda/handles.h"
#include "verbs/context.h"
#include "verbs/handle.h"

namespace marrow::verbs {

/// How the doorbell page is to be mapped.
enum class UarChoice : std::uint8_t {
  kUncached,   // a register of our own where the library can (rdma-core 45 on), else the context's shared one
  kBlueFlame,  // write-combining: a register of our own from any version, and a store fence behind each doorbell
  kBest        // uncached, else write-combining
};

class Uar {
 public:
  Uar(const Context& context, UarChoice choice);
  [[nodiscard]] std::uint32_t page() const { return handle_->page_id; }
  [[nodiscard]] volatile std::uint64_t* doorbell() const {
    return static_cast<volatile std::uint64_t*>(handle_->reg_addr);
  }
  [[nodiscard]] gda::DoorbellMapping mapping() const { return mapping_; }

 private:
  UarHandle handle_;
  gda::DoorbellMapping mapping_{};
};

/// A buffer under a number that mailboxes can carry. The buffer must outlive it. Objects lie at its start: other
/// offsets must fit the page size that the kernel chose.
class Umem {
 public:
  /// By address, else as a DMA-BUF. Throws util::Error when the device takes neither.
  Umem(const Context& context, const Memory& buffer);
  [[nodiscard]] std::uint32_t id() const { return handle_->umem_id; }
  [[nodiscard]] Registration registration() const { return registration_; }

 private:
  UmemHandle handle_;
  Registration registration_ = Registration::kAddress;
};

}  // namespace marrow::verbs
