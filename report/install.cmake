# SPDX-License-Identifier: Apache-2.0
# cmake -DNPM=... -DWORK=... -P install.cmake: npm ci in WORK. How it went is in WORK/installed.txt; that it failed is no
# error of the build, which has everything but the page then.
execute_process(COMMAND ${NPM} ci --ignore-scripts --no-audit --no-fund --loglevel=error WORKING_DIRECTORY ${WORK}
  RESULT_VARIABLE failed OUTPUT_QUIET ERROR_VARIABLE why TIMEOUT 300)
if(failed)
  string(REGEX MATCH "[^\n]+" why "${why}")
  file(WRITE ${WORK}/installed.txt "failed: npm ci: ${failed} ${why}\n")
else()
  file(WRITE ${WORK}/installed.txt "installed\n")
endif()
