# SPDX-License-Identifier: Apache-2.0
# witness_options: how a script that runs other people's programs is told where the software NIC is.
set(witness_options --library $<TARGET_FILE:marrow_cx7>)
if(MARROW_SANITIZE MATCHES "address|thread")
  # A preloaded object that is instrumented needs its runtime before it.
  string(REGEX MATCH "address|thread" sanitizer ${MARROW_SANITIZE})
  string(SUBSTRING ${sanitizer} 0 1 letter)
  execute_process(COMMAND ${CMAKE_CXX_COMPILER} -print-file-name=lib${letter}san.so OUTPUT_VARIABLE runtime
    OUTPUT_STRIP_TRAILING_WHITESPACE)
  list(APPEND witness_options --preload-first ${runtime})
elseif(TARGET marrow)
  list(APPEND witness_options --tool $<TARGET_FILE:marrow>)
endif()
