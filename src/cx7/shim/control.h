/* SPDX-License-Identifier: Apache-2.0
 * The software ConnectX-7's own calls, in plain C: switch it on, read what it counted and what it did, stop by stop.
 * Everything else that libmarrow_cx7.so exports is a libc name that it interposes (exports.map).
 *
 * Two ways to have it: linked before libibverbs, then it is off until marrow_cx7_enable(); or preloaded with
 * MARROW_SIM=1 in the environment, then it is on from the start. Off, every hook passes its call straight through.
 * Any thread may call. */
#pragma once

#include <stdint.h> /* NOLINT(modernize-deprecated-headers): C callers */

#ifdef __cplusplus
extern "C" {
#endif

#define MARROW_CX7_API __attribute__((visibility("default")))

/** "0.1.0": version of the shared object. */
MARROW_CX7_API const char* marrow_cx7_version(void);

/** From now on this process sees the two software devices and no others. 0, or -1 when the MARROW_SIM_ variables make
 *  no sense or the device tree is missing: then marrow_cx7_error() says why. */
MARROW_CX7_API int marrow_cx7_enable(void);
/** Paths mean the real machine again. Devices that are open stay open. */
MARROW_CX7_API void marrow_cx7_disable(void);
MARROW_CX7_API int marrow_cx7_is_enabled(void);
/** Sentence about the calling thread's last failed call here, "" when there was none. */
MARROW_CX7_API const char* marrow_cx7_error(void);

struct marrow_cx7_stat {
  const char* name; /* lives for ever */
  uint64_t value;
};
/** The CPU engine's own numbers: steps, sleeps, wake-ups, ... instead of a device's counters. */
#define MARROW_CX7_ENGINE (-1)
/** Counters since the first device was opened, zero before. `device` is 0, 1 or MARROW_CX7_ENGINE. Fills at most
 *  `most` and returns how many there are, or -1 for a device that does not exist. Names and order never change within
 *  a process. */
MARROW_CX7_API int marrow_cx7_stats(int device, struct marrow_cx7_stat* to, int most);

struct marrow_cx7_trace_event {
  uint8_t kind; /* marrow_cx7_trace_name() */
  uint8_t device;
  uint8_t opcode;   /* of a packet, as on the wire */
  uint8_t peer;     /* device at a packet's other end */
  uint32_t qpn;     /* queue pair of `device` */
  uint64_t time_ns; /* CLOCK_MONOTONIC */
  uint64_t a;
  uint64_t b;
  uint64_t c;
};
/** Starts an empty trace of the last 1024 events, or stops it. 0, or -1 when no device was opened yet. */
MARROW_CX7_API int marrow_cx7_trace_enable(int on);
/** Copies the newest events, oldest first; returns how many, or -1 when no device was opened yet. */
MARROW_CX7_API int marrow_cx7_trace_read(struct marrow_cx7_trace_event* to, int most);
/** "doorbell", "fetch", ...; null for a kind that does not exist. cx7/hca/trace.h says what a, b and c are. */
MARROW_CX7_API const char* marrow_cx7_trace_name(int kind);

#ifdef __cplusplus
}
#endif
