# SPDX-License-Identifier: Apache-2.0
#
# The test of this folder: install, configure, build, run, with COMPILER and FLAGS, and look at
# the output.
function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE result OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT result EQUAL 0)
    message(FATAL_ERROR "failed: ${ARGN}\n${output}")
  endif()
  set(output "${output}" PARENT_SCOPE)
endfunction()

file(REMOVE_RECURSE ${WORK})
run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${WORK}/install)
run(${CMAKE_COMMAND} -G Ninja -S ${SOURCE} -B ${WORK}/build -DCMAKE_PREFIX_PATH=${WORK}/install -DCMAKE_CXX_COMPILER=${COMPILER} -DCMAKE_CXX_FLAGS=${FLAGS})
run(${CMAKE_COMMAND} --build ${WORK}/build)
run(${WORK}/build/embed)
set(expected "1.38177\n1.38177\n1.38177\n1.38177\n[4,2]\n")
if(NOT output STREQUAL expected)
  message(FATAL_ERROR "expected:\n${expected}got:\n${output}")
endif()
# The tools are installed, too, and find the simulated device where it is.
run(${WORK}/install/bin/hjx-opt --version)
run(${WORK}/install/bin/hjx-run devices)
if(NOT output MATCHES "sim:0 +hjx simulated")
  message(FATAL_ERROR "expected the line of sim:0, got:\n${output}")
endif()
# Nothing of the compiler is reachable from the installed headers.
file(GLOB_RECURSE headers ${WORK}/install/include/*)
foreach(header ${headers})
  file(STRINGS ${header} includes REGEX "#include.*(mlir|llvm|absl)")
  if(includes)
    message(FATAL_ERROR "${header} includes ${includes}")
  endif()
endforeach()
