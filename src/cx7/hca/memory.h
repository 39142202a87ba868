// SPDX-License-Identifier: Apache-2.0
// The device's DMA: loads and stores of application memory that end in `false`, not in a crash, when the application
// has unmapped it. A fault inside one of these functions resumes at its failure return; a fault anywhere else goes
// to whoever handled the signal before. No cost when nothing faults: the check is the processor's own.
#pragma once

#include <signal.h>

#include <cstddef>
#include <cstdint>

#include "marrow/wire/be.h"

namespace marrow::cx7::dma {

/// Installs the SIGSEGV and SIGBUS handlers, once per process; later calls do nothing.
void install_fault_handler();

/// The application's own idea of what happens on SIGSEGV or SIGBUS: kept, and called for faults that are not ours.
/// Same contract as sigaction(2) for these two signals. The interposed sigaction() and signal() come here.
int replace_application_action(int signal, const struct sigaction* action, struct sigaction* previous);

/// All return false when a byte could not be reached; then part of the bytes may have been copied.
[[nodiscard]] bool copy(void* to, const void* from, std::size_t bytes);
[[nodiscard]] bool load32(const void* from, std::uint32_t& value);
/// Naturally aligned, release order: everything stored before is visible first.
[[nodiscard]] bool store32(void* to, std::uint32_t value);
/// 8-byte atomics on naturally aligned memory; `old` gets the value before.
[[nodiscard]] bool fetch_add64(void* at, std::uint64_t add, std::uint64_t& old);
[[nodiscard]] bool compare_swap64(void* at, std::uint64_t compare, std::uint64_t swap, std::uint64_t& old);

/// True when every page of [at, at + bytes) is mapped now (mincore; set-up only).
[[nodiscard]] bool is_mapped(const void* at, std::size_t bytes);

}  // namespace marrow::cx7::dma
