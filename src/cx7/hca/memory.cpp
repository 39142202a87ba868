// SPDX-License-Identifier: Apache-2.0
// Guarded memory access: leaf functions in one block of assembly that never touch the stack, so a fault at any of
// their instructions can be answered by resuming at a shared `return false`.
#include "cx7/hca/memory.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <mutex>

#if !defined(__x86_64__)
#error "the software ConnectX-7 runs on x86-64: guarded memory access is not written for this processor"
#endif

// SysV calling convention: rdi, rsi, rdx, rcx in; eax out. Aligned 8-byte words move in one instruction, as a NIC's
// writes of such words arrive.
asm(R"(
    .text
    .p2align 4
    .hidden marrow_dma_begin, marrow_dma_end, marrow_dma_fault
    .globl marrow_dma_begin, marrow_dma_end, marrow_dma_fault
    .hidden marrow_dma_copy, marrow_dma_load32, marrow_dma_store32, marrow_dma_fetch_add64, marrow_dma_compare_swap64
    .globl marrow_dma_copy, marrow_dma_load32, marrow_dma_store32, marrow_dma_fetch_add64, marrow_dma_compare_swap64
marrow_dma_begin:

    .type marrow_dma_copy, @function
marrow_dma_copy:                     # rdi to, rsi from, rdx bytes
    cmpq $512, %rdx
    jae 5f
1:  cmpq $16, %rdx
    jb 2f
    movups (%rsi), %xmm0
    movups %xmm0, (%rdi)
    addq $16, %rsi
    addq $16, %rdi
    subq $16, %rdx
    jmp 1b
2:  testb $8, %dl
    jz 3f
    movq (%rsi), %rax
    movq %rax, (%rdi)
    addq $8, %rsi
    addq $8, %rdi
3:  testb $4, %dl
    jz 4f
    movl (%rsi), %eax
    movl %eax, (%rdi)
    addq $4, %rsi
    addq $4, %rdi
4:  andq $3, %rdx
5:  movq %rdx, %rcx
    jrcxz 6f
    rep movsb
6:  movl $1, %eax
    ret

    .type marrow_dma_load32, @function
marrow_dma_load32:                   # rdi from, rsi to
    movl (%rdi), %eax
    movl %eax, (%rsi)
    movl $1, %eax
    ret

    .type marrow_dma_store32, @function
marrow_dma_store32:                  # rdi to, esi value
    movl %esi, (%rdi)
    movl $1, %eax
    ret

    .type marrow_dma_fetch_add64, @function
marrow_dma_fetch_add64:              # rdi at, rsi add, rdx old
    lock xaddq %rsi, (%rdi)
    movq %rsi, (%rdx)
    movl $1, %eax
    ret

    .type marrow_dma_compare_swap64, @function
marrow_dma_compare_swap64:           # rdi at, rsi compare, rdx swap, rcx old
    movq %rsi, %rax
    lock cmpxchgq %rdx, (%rdi)
    movq %rax, (%rcx)
    movl $1, %eax
    ret

marrow_dma_end:
marrow_dma_fault:
    xorl %eax, %eax
    ret
)");

extern "C" {
extern const char marrow_dma_begin[], marrow_dma_end[], marrow_dma_fault[];
int marrow_dma_copy(void*, const void*, std::size_t);
int marrow_dma_load32(const void*, std::uint32_t*);
int marrow_dma_store32(void*, std::uint32_t);
int marrow_dma_fetch_add64(void*, std::uint64_t, std::uint64_t*);
int marrow_dma_compare_swap64(void*, std::uint64_t, std::uint64_t, std::uint64_t*);
}

namespace marrow::cx7::dma {
namespace {

using SigactionFunction = int (*)(int, const struct sigaction*, struct sigaction*);

// Not by name: in the preloaded object the name is our own hook.
SigactionFunction next_sigaction() {
  static const auto function = reinterpret_cast<SigactionFunction>(dlsym(RTLD_NEXT, "sigaction"));
  return function;
}

struct Actions {
  struct sigaction segv {};
  struct sigaction bus {};
  struct sigaction& of(int signal) {
    return signal == SIGSEGV ? segv : bus;
  }
};

Actions& application() {
  static Actions actions;
  return actions;
}

bool installed = false;
std::mutex install_mutex;

void reset_to_default(int signal) {
  struct sigaction fallback {};
  fallback.sa_handler = SIG_DFL;
  next_sigaction()(signal, &fallback, nullptr);
}

// A fault that is not ours: what would have happened without us. For the default action the handler is taken away
// and the instruction runs again.
void forward(int signal, siginfo_t* info, void* context) {
  const struct sigaction action = application().of(signal);
  const bool plain = (action.sa_flags & SA_SIGINFO) == 0;
  const bool sent = info->si_code <= 0;  // by kill(): the instruction that was interrupted is innocent
  if (plain && action.sa_handler == SIG_IGN && sent) return;
  if (plain && (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN)) {
    reset_to_default(signal);
    if (sent) raise(signal);
    return;
  }
  if ((action.sa_flags & SA_RESETHAND) != 0) application().of(signal).sa_handler = SIG_DFL;
  sigset_t before;
  pthread_sigmask(SIG_BLOCK, &action.sa_mask, &before);
  if (plain) {
    action.sa_handler(signal);
  } else {
    action.sa_sigaction(signal, info, context);
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

void on_fault(int signal, siginfo_t* info, void* context) {
  auto& rip = static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP];
  const auto at = reinterpret_cast<const char*>(rip);
  const bool synchronous = info->si_code > 0;  // not from kill()
  if (synchronous && at >= marrow_dma_begin && at < marrow_dma_end) {
    rip = reinterpret_cast<greg_t>(marrow_dma_fault);
    return;
  }
  forward(signal, info, context);
}

}  // namespace

void install_fault_handler() {
  const std::lock_guard lock(install_mutex);
  if (installed) return;
  struct sigaction ours {};
  ours.sa_sigaction = on_fault;
  ours.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  for (const int signal : {SIGSEGV, SIGBUS}) next_sigaction()(signal, &ours, &application().of(signal));
  installed = true;
}

int replace_application_action(int signal, const struct sigaction* action, struct sigaction* previous) {
  const std::lock_guard lock(install_mutex);
  if (!installed) return next_sigaction()(signal, action, previous);
  if (previous != nullptr) *previous = application().of(signal);
  if (action != nullptr) application().of(signal) = *action;
  return 0;
}

bool copy(void* to, const void* from, std::size_t bytes) {
  return marrow_dma_copy(to, from, bytes) != 0;
}
bool load32(const void* from, std::uint32_t& value) {
  return marrow_dma_load32(from, &value) != 0;
}

bool store32(void* to, std::uint32_t value) {
  std::atomic_signal_fence(std::memory_order_release);  // x86 stores are ordered: only the compiler needs telling
  return marrow_dma_store32(to, value) != 0;
}

bool fetch_add64(void* at, std::uint64_t add, std::uint64_t& old) {
  return marrow_dma_fetch_add64(at, add, &old) != 0;
}
bool compare_swap64(void* at, std::uint64_t compare, std::uint64_t swap, std::uint64_t& old) {
  return marrow_dma_compare_swap64(at, compare, swap, &old) != 0;
}

bool is_mapped(const void* at, std::size_t bytes) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto first = reinterpret_cast<std::uintptr_t>(at) & ~(page - 1);
  const auto end = reinterpret_cast<std::uintptr_t>(at) + bytes;
  if (end < first) return false;
  constexpr std::size_t kChunk = 4096;  // pages asked about at once
  unsigned char resident[kChunk];
  for (auto from = first; from < end; from += kChunk * page) {
    const auto length = std::min<std::size_t>(end - from, kChunk * page);
    if (mincore(reinterpret_cast<void*>(from), length, resident) != 0) return false;
  }
  return true;
}

}  // namespace marrow::cx7::dma
