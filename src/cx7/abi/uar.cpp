// SPDX-License-Identifier: Apache-2.0
// Doorbell pages. BlueFlame or not is the caller's business: the page is the same memory.
#include "cx7/abi/schema_table.h"
#include "cx7/fw/limits.h"

namespace marrow::cx7::abi {

void uar_alloc(Context& context, Request& request) {
  const auto type = request.number(MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE);
  require(type == MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF || type == MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC, EOPNOTSUPP);
  const auto handle = context.next_handle();
  auto uar = std::make_unique<UarObject>(context.client, context.pages);
  request.out(MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, uar->file_offset());
  request.out(MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, kUarPageBytes);
  request.out(MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, uar->number());
  request.set_handle(MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE, handle);
  context.add(handle, std::move(uar));
}

void uar_destroy(Context& context, Request& request) {
  context.remove(request.handle(MLX5_IB_ATTR_UAR_OBJ_DESTROY_HANDLE), ObjectKind::kUar);
}

}  // namespace marrow::cx7::abi
