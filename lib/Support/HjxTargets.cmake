# SPDX-License-Identifier: Apache-2.0
#
# How a target is declared in this tree.
#   hjx_library(<name> SOURCES ... [LINK ...])          runtime library: no LLVM, no MLIR
#   hjx_compiler_library(<name> SOURCES ... [LINK ...]) sees MLIR and uses the shared precompiled header
#   hjx_compiler_executable(<name> SOURCES ... [LINK ...])

# One precompiled header for every file that sees MLIR: it brings a pass file
# from 16 to under 1 CPU-second.
# Named so that ccache sees it: behind -Xclang its absolute path would be part of the hash.
set(CMAKE_CXX_COMPILE_OPTIONS_USE_PCH -include-pch <PCH_FILE>)
add_library(hjx_pch STATIC ${CMAKE_SOURCE_DIR}/lib/Support/Pch.cpp)
target_precompile_headers(hjx_pch PRIVATE ${CMAKE_SOURCE_DIR}/lib/Support/Pch.h)
target_compile_options(hjx_pch PRIVATE -Xclang -fno-pch-timestamp)

function(hjx_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
endfunction()

function(hjx_use_pch name)
  target_precompile_headers(${name} REUSE_FROM hjx_pch)
  target_compile_options(${name} PRIVATE -Xclang -fno-pch-timestamp)
endfunction()

function(hjx_compiler_library name)
  hjx_library(${name} ${ARGN})
  hjx_use_pch(${name})
  # Generated dialect headers must exist before any file that may include them.
  if(TARGET hjx_dialect_headers)
    add_dependencies(${name} hjx_dialect_headers)
  endif()
  target_link_libraries(${name} PUBLIC MLIR LLVM)
endfunction()

function(hjx_compiler_executable name)
  cmake_parse_arguments(ARG "" "" "SOURCES;LINK" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  hjx_use_pch(${name})
  # The precompiled header was built with -fPIC, which -fPIE does not match.
  set_target_properties(${name} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
  target_compile_options(${name} PRIVATE -fPIC)
  add_dependencies(${name} hjx_dialect_headers)
  target_link_libraries(${name} PRIVATE ${ARG_LINK} MLIR LLVM)
endfunction()

# GoogleTest program whose cases ctest lists one by one. SLOW ones are left out by
# `./dev check --quick`. Parameters that are objects print as bytes: only names identify cases.
include(GoogleTest)
function(hjx_unit_test name)
  cmake_parse_arguments(ARG "COMPILER;SLOW" "" "SOURCES;LINK" ${ARGN})
  if(ARG_COMPILER)
    hjx_compiler_executable(${name} SOURCES ${ARG_SOURCES} LINK ${ARG_LINK} GTest::gmock GTest::gtest_main)
  else()
    add_executable(${name} ${ARG_SOURCES})
    target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gmock GTest::gtest_main)
  endif()
  if(ARG_SLOW)
    set(labels PROPERTIES LABELS slow)
  endif()
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60 NO_PRETTY_VALUES ${labels})
endfunction()
