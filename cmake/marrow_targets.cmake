# SPDX-License-Identifier: Apache-2.0
# One way to declare a library, a test and a benchmark, so that flags, labels and time limits are set once.
include(GNUInstallDirs)

# marrow_compile_together(target): eight sources at a time are one for the compiler, which parses what they include once.
# So names in anonymous namespaces are unique within a target; a source that cannot be has SKIP_UNITY_BUILD_INCLUSION.
function(marrow_compile_together target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${MARROW_UNITY} UNITY_BUILD_BATCH_SIZE 8)
endfunction()

# marrow_library(name SOURCES a.cpp ... DEPS target ...): a static library, includes rooted at src/ and include/.
function(marrow_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS" ${ARGN})
  add_library(${name} STATIC ${arg_SOURCES})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR}/src)
  target_link_libraries(${name} PUBLIC ${arg_DEPS} PRIVATE marrow_flags)
endfunction()

# marrow_cuda_library(name SOURCES a.cu b.cpp ... DEPS target ...): the same with kernels; only where MARROW_CUDA is on.
# Unlike marrow_library its includes begin at the project's root too, for kernels in experiments/.
function(marrow_cuda_library name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS" ${ARGN})
  marrow_library(${name} SOURCES ${arg_SOURCES} DEPS ${arg_DEPS})
  target_include_directories(${name} PUBLIC ${PROJECT_SOURCE_DIR})
  target_link_libraries(${name} PRIVATE CUDA::cudart_static)
endfunction()

# marrow_precompile(target header): every C++ file of the target sees this header first. A file still includes what it
# uses: the sanitizers' presets build without.
function(marrow_precompile target header)
  if(MARROW_PRECOMPILE)
    target_precompile_headers(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:${PROJECT_SOURCE_DIR}/${header}>)
  endif()
endfunction()

# What all tests are compiled with.
function(marrow_test_options target)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/tests)
  target_link_libraries(${target} PRIVATE GTest::gmock_main marrow_flags)
  target_compile_options(${target} PRIVATE $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<CONFIG:RelWithDebInfo>>:-O1>)  # built once, run once
endfunction()

# marrow_test(name LABEL unit|sim|ptx|gpu|witness SOURCES ... DEPS ... [TIMEOUT seconds] [SERIAL] [SEPARATE]): one GoogleTest program.
# GTest discovers no cases at build time: one ctest entry a program keeps the list readable and start-up cheap.
# A second label is its folder under tests/, so that `ctest -L gda` runs what belongs to mini-gda. SERIAL: it measures
# time, and nothing else may run beside it. SEPARATE: its sources share names, so each is compiled alone.
function(marrow_test name)
  cmake_parse_arguments(arg "SERIAL;SEPARATE" "LABEL;TIMEOUT" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  if(NOT arg_SEPARATE)
    marrow_compile_together(${name})
  endif()
  target_link_libraries(${name} PRIVATE ${arg_DEPS})
  marrow_test_options(${name})
  if(MARROW_PRECOMPILE)
    target_precompile_headers(${name} REUSE_FROM marrow_test_headers)
  endif()
  add_test(NAME ${name} COMMAND ${name})
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 60)
  endif()
  file(RELATIVE_PATH folder ${PROJECT_SOURCE_DIR}/tests ${CMAKE_CURRENT_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES LABELS "${arg_LABEL};${folder}" TIMEOUT ${arg_TIMEOUT} SKIP_RETURN_CODE 77
    RUN_SERIAL ${arg_SERIAL})
endfunction()

# marrow_benchmark(name SOURCES ... DEPS ...): a Google Benchmark program, built with the tests, run by hand.
function(marrow_benchmark name)
  cmake_parse_arguments(arg "" "" "SOURCES;DEPS" ${ARGN})
  add_executable(${name} ${arg_SOURCES})
  target_link_libraries(${name} PRIVATE ${arg_DEPS} benchmark::benchmark_main marrow_flags)
endfunction()
