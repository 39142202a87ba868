// SPDX-License-Identifier: Apache-2.0
// idle SECONDS: connects two queue pairs, sends one message over them, then does nothing.
#include <unistd.h>

#include <cstdlib>

#include "loopback.h"

int main(int argc, char** argv) {
  const int seconds = argc == 2 ? std::atoi(argv[1]) : 0;
  if (seconds <= 0) {
    std::fputs("usage: idle SECONDS\n", stderr);
    return 2;
  }
  static std::uint64_t value = 1;
  static std::uint64_t copy = 0;
  witness::Loopback pair;
  ibv_mr* from = witness::need(pair.a.expose(&value, sizeof value), "ibv_reg_mr");
  ibv_mr* to = witness::need(pair.b.expose(&copy, sizeof copy), "ibv_reg_mr");
  pair.a.post({.from = from, .from_address = &value, .to = to, .to_address = &copy, .bytes = sizeof value});
  witness::need(pair.a.wait().status == IBV_WC_SUCCESS, "write");
  ::sleep(static_cast<unsigned>(seconds));
  return 0;
}
