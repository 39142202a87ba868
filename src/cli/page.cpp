// SPDX-License-Identifier: Apache-2.0
// The assembler puts the file into the program as it is. Fact: .incbin of GNU as [obs].
#include "cli/page.h"

#ifdef MARROW_REPORT_PAGE
asm(R"(
  .section .rodata
  .balign 16
marrow_report_page_begin:
  .incbin ")" MARROW_REPORT_PAGE R"("
marrow_report_page_end:
  .byte 0
  .previous
)");
extern const char page_begin[] asm("marrow_report_page_begin");
extern const char page_end[] asm("marrow_report_page_end");
#endif

namespace marrow::cli {

std::string_view report_page() {
#ifdef MARROW_REPORT_PAGE
  return {page_begin, static_cast<std::size_t>(page_end - page_begin)};
#else
  return {};
#endif
}

}  // namespace marrow::cli
