# SPDX-License-Identifier: Apache-2.0
# cmake -DNODE=... -DWORK=... -DPAGE=... -P bundle.cmake: PAGE from what lies in WORK. Where the packages are missing PAGE
# is empty, and the tool says that it has none.
get_filename_component(folder ${PAGE} DIRECTORY)
file(MAKE_DIRECTORY ${folder})
file(READ ${WORK}/installed.txt how)
if(NOT how STREQUAL "installed\n")
  message("no page of marrow report: ${how}try: rm ${WORK}/installed.txt, and build again")
  file(WRITE ${PAGE} "")
  return()
endif()
execute_process(COMMAND ${NODE} build.mjs ${PAGE} WORKING_DIRECTORY ${WORK} COMMAND_ERROR_IS_FATAL ANY)
