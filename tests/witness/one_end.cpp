// SPDX-License-Identifier: Apache-2.0
// one_end DEVICE: one end of an RC connection between two processes, driven by lines on standard input. First it says
// its address; the first line that it hears is the other's. Then, each answered by a line:
//   write N BYTES      N writes, one after the other          write-bad      one with a key that the other does not
//   have file PATH          what the file says, opened anew        end
#include <cinttypes>
#include <cstring>
#include <string>

#include "loopback.h"

namespace {

constexpr std::size_t kBytes = 1 << 16;
alignas(4096) char buffer[kBytes];  // NOLINT(modernize-avoid-c-arrays)

struct Far {
  std::uint32_t rkey = 0;
  std::uint64_t at = 0;
};

void say_address(const witness::Side& end, const ibv_mr* mr) {
  const auto own = end.address();
  std::printf("%u %u %016llx %016llx %u %" PRIu64 "\n", own.qpn, own.lid, own.gid.global.subnet_prefix,
              own.gid.global.interface_id, mr->rkey, reinterpret_cast<std::uint64_t>(buffer));
}

Far hear_address(witness::Side& end) {
  witness::Side::Address peer{};
  Far far;
  char line[512];  // NOLINT(modernize-avoid-c-arrays)
  witness::need(std::fgets(line, sizeof line, stdin) != nullptr, "the other's address");
  const int n = std::sscanf(line, "%u %hu %llx %llx %u %" SCNu64, &peer.qpn, &peer.lid, &peer.gid.global.subnet_prefix,
                            &peer.gid.global.interface_id, &far.rkey, &far.at);
  witness::need(n == 6, "the other's address");
  end.connect(peer);
  return far;
}

int write(witness::Side& end, const ibv_mr* mr, const Far& far, std::uint32_t bytes) {
  end.post(witness::Side::FarWrite{mr->lkey, buffer, far.rkey, far.at, bytes});
  return end.wait().status;
}

void say_file(const char* path) {
  char text[64] = "absent";  // NOLINT(modernize-avoid-c-arrays)
  std::FILE* file = std::fopen(path, "r");
  if (file != nullptr && std::fgets(text, sizeof text, file) == nullptr) std::strcpy(text, "empty");
  if (file != nullptr) std::fclose(file);
  std::printf("%s%s", text, std::strchr(text, '\n') == nullptr ? "\n" : "");
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: one_end 0|1\n", stderr);
    return 2;
  }
  std::setvbuf(stdout, nullptr, _IOLBF, 0);
  witness::Side end(witness::devices()[std::atoi(argv[1]) & 1]);
  const ibv_mr* const mr = witness::need(end.expose(buffer, kBytes), "ibv_reg_mr");
  say_address(end, mr);
  const Far far = hear_address(end);
  std::puts("connected");
  char line[512];  // NOLINT(modernize-avoid-c-arrays)
  while (std::fgets(line, sizeof line, stdin) != nullptr && std::strcmp(line, "end\n") != 0) {
    unsigned n = 0;
    unsigned bytes = 0;
    if (std::sscanf(line, "write %u %u", &n, &bytes) == 2) {
      int status = IBV_WC_SUCCESS;
      for (unsigned k = 0; k < n && status == IBV_WC_SUCCESS; ++k) status = write(end, mr, far, bytes);
      std::printf("status %d\n", status);
    } else if (std::strcmp(line, "write-bad\n") == 0) {
      std::printf("status %d\n", write(end, mr, {far.rkey ^ 1, far.at}, 8));
    } else if (std::strncmp(line, "file ", 5) == 0) {
      line[std::strcspn(line, "\n")] = '\0';
      say_file(line + 5);
    } else {
      std::puts("what?");
    }
  }
  return 0;
}
