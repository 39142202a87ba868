# SPDX-License-Identifier: Apache-2.0
# Language level, warnings, sanitizers and optional parts. What is optional and missing is named at the end of
# the configure run by marrow_report_missing().
option(MARROW_TESTS "build the tests and benchmarks" ON)
option(MARROW_WERROR "treat warnings as errors" ON)
option(MARROW_PRECOMPILE "precompile the headers that most tests and experiments include; off in the sanitizers' presets" ON)
option(MARROW_UNITY "compile the sources of a target together, eight at a time: a quarter of the time; off in the sanitizers' presets" ON)
option(MARROW_FUZZ "build tests/fuzz as libFuzzer programs; needs clang, see the preset fuzz" OFF)
set(MARROW_SANITIZE "" CACHE STRING "sanitizers to build with: address,undefined or thread; empty for none")

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE RelWithDebInfo CACHE STRING "build type" FORCE)
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)

add_library(marrow_flags INTERFACE)
target_compile_options(marrow_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-missing-field-initializers>
  $<$<AND:$<BOOL:${MARROW_WERROR}>,$<COMPILE_LANGUAGE:CXX>>:-Werror>)
if(MARROW_SANITIZE)
  target_compile_options(marrow_flags INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=${MARROW_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all>)
  target_link_options(marrow_flags INTERFACE -fsanitize=${MARROW_SANITIZE})
endif()

if(MARROW_FUZZ)
  target_compile_options(marrow_flags INTERFACE $<$<COMPILE_LANGUAGE:CXX>:-fsanitize=fuzzer-no-link>)
endif()

find_package(Threads REQUIRED)
find_package(PkgConfig REQUIRED)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(CLI11 REQUIRED)
pkg_check_modules(ibverbs REQUIRED IMPORTED_TARGET libibverbs)
pkg_check_modules(mlx5 REQUIRED IMPORTED_TARGET libmlx5)
pkg_check_modules(hwloc REQUIRED IMPORTED_TARGET hwloc)
if(MARROW_TESTS)
  find_package(GTest REQUIRED)
  find_package(benchmark REQUIRED)
endif()

set(MARROW_MISSING "" CACHE INTERNAL "optional parts that were not found, and what they would add")
function(marrow_missing part adds)
  set(MARROW_MISSING "${MARROW_MISSING};${part} not found: without it there are no ${adds}" CACHE INTERNAL "")
endfunction()

# CUDA adds GPU lanes and the software NIC's engine on a GPU. Kernels compile where nvcc is, and no GPU is needed for
# that. One architecture as code and as PTX: newer GPUs compile the PTX at the first launch.
option(MARROW_CUDA "build GPU lanes and the CUDA engine where nvcc is found" ON)
find_program(MARROW_NVCC nvcc HINTS ENV CUDA_HOME ENV CUDA_PATH PATHS /usr/local/cuda/bin PATH_SUFFIXES bin)
if(MARROW_CUDA AND MARROW_NVCC AND NOT MARROW_SANITIZE)
  set(CMAKE_CUDA_COMPILER ${MARROW_NVCC})
  set(CMAKE_CUDA_ARCHITECTURES 90)
  set(CMAKE_CUDA_RUNTIME_LIBRARY Static)
  enable_language(CUDA)
  if(NOT CMAKE_CUDA20_STANDARD_COMPILE_OPTION)  # CMake 3.25 does not know that nvcc has it
    set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
    set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
  endif()
  set(CMAKE_CUDA_STANDARD 20)
  set(CMAKE_CUDA_STANDARD_REQUIRED ON)
  set(CMAKE_CUDA_EXTENSIONS OFF)
  find_package(CUDAToolkit REQUIRED)
  target_compile_options(marrow_flags INTERFACE
    $<$<COMPILE_LANGUAGE:CUDA>:--expt-relaxed-constexpr;-Xcompiler=-Wall>)
else()
  set(MARROW_CUDA OFF)
endif()
if(NOT MARROW_NVCC)
  marrow_missing("nvcc (CUDA 13)" "GPU lanes, no CUDA engine of the software NIC, and no tests of the generated PTX")
endif()

function(marrow_report_missing)
  foreach(line IN LISTS MARROW_MISSING)
    if(line)
      message(STATUS "marrow: ${line}")
    endif()
  endforeach()
endfunction()
