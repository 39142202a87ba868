// SPDX-License-Identifier: Apache-2.0
// XRC domains: OPEN_XRCD and its end. A domain may be tied to a file, and whoever opens it with the same file gets the
// same one. Files tie together the contexts of one process here, not several processes.
// Facts: struct and the meaning of oflags [abi, as the kernel's ib_uverbs_open_xrcd has them].
#include <fcntl.h>
#include <sys/stat.h>

#include <map>

#include "cx7/abi/schema_table.h"

namespace marrow::cx7::abi {
namespace {

struct FileId {
  std::uint8_t device = 0;
  dev_t filesystem = 0;
  ino_t inode = 0;
  auto operator<=>(const FileId&) const = default;
};

std::shared_ptr<XrcDomain> fresh_domain() {
  static std::uint32_t last = 0;  // the engine's lock is held
  return std::make_shared<XrcDomain>(XrcDomain{++last});
}

std::shared_ptr<XrcDomain> domain_of(std::uint8_t device, const ib_uverbs_open_xrcd& req) {
  static std::map<FileId, std::weak_ptr<XrcDomain>> domains;
  if (static_cast<std::int32_t>(req.fd) == -1) return fresh_domain();
  struct stat status {};
  require(::fstat(static_cast<int>(req.fd), &status) == 0, EBADF);
  std::erase_if(domains, [](const auto& entry) { return entry.second.expired(); });
  auto& known = domains[{device, status.st_dev, status.st_ino}];
  auto domain = known.lock();
  require(domain || (req.oflags & O_CREAT) != 0, EAGAIN);
  require(!domain || (req.oflags & O_EXCL) == 0, EINVAL);
  if (!domain) known = domain = fresh_domain();
  return domain;
}

}  // namespace

void open_xrcd(Context& context, Request& request) {
  const auto req = request.in<ib_uverbs_open_xrcd>(UVERBS_ATTR_CORE_IN);
  require((req.oflags & ~static_cast<std::uint32_t>(O_CREAT | O_EXCL)) == 0, EINVAL);
  const auto handle = context.next_handle();
  auto object = std::make_unique<XrcdObject>(context.client, domain_of(context.client.device.index, req));
  request.out(UVERBS_ATTR_CORE_OUT, std::uint32_t{handle});  // ib_uverbs_open_xrcd_resp: one word
  context.add(handle, std::move(object));
}

void destroy_xrcd(Context& context, Request& request) {
  context.remove(request.handle(UVERBS_ATTR_DESTROY_XRCD_HANDLE), ObjectKind::kXrcd);
}

}  // namespace marrow::cx7::abi
