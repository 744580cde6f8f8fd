# The C++ core, free of Python: the extension module and the native tests link it.
find_package(Threads REQUIRED)

set(GATEWISE_OPTIMIZATION -O3 CACHE STRING "optimization of the core")
set(native_dir ${CMAKE_CURRENT_LIST_DIR})
add_library(gatewise_core STATIC
  ${native_dir}/circuit/circuit.cpp
  ${native_dir}/circuit/expand.cpp
  ${native_dir}/simplify/formula.cpp
  ${native_dir}/simplify/graph.cpp
  ${native_dir}/simplify/simplify.cpp
  ${native_dir}/simplify/window.cpp
  ${native_dir}/simplify/write_back.cpp
  ${native_dir}/engine/engine.cpp
  ${native_dir}/engine/netlist.cpp
  ${native_dir}/engine/pairs.cpp
  ${native_dir}/engine/planner.cpp
  ${native_dir}/engine/schedule.cpp
  ${native_dir}/boost/questions/chooser.cpp
  ${native_dir}/boost/rows/codes.cpp
  ${native_dir}/boost/rows/derivatives.cpp
  ${native_dir}/boost/growing.cpp
  ${native_dir}/boost/learner.cpp
  ${native_dir}/boost/questions/pairs.cpp
  ${native_dir}/boost/questions/questions.cpp
  ${native_dir}/boost/rows/scored.cpp
  ${native_dir}/boost/values.cpp
  ${native_dir}/encode/encoder.cpp
  ${native_dir}/encode/search_tree.cpp
  ${native_dir}/train/bits/batch.cpp
  ${native_dir}/train/bits/step.cpp
  ${native_dir}/train/bits/table_stack.cpp
  ${native_dir}/train/losses.cpp
  ${native_dir}/train/mixtures.cpp
  ${native_dir}/train/samples.cpp
  ${native_dir}/train/stack.cpp
  ${native_dir}/train/step.cpp
  ${native_dir}/verify/box_search.cpp
  ${native_dir}/verify/table_sum.cpp
  ${native_dir}/simd/targets.cpp
  ${native_dir}/support/pool.cpp)
target_include_directories(gatewise_core PUBLIC ${native_dir})
target_link_libraries(gatewise_core PUBLIC Threads::Threads)
target_compile_options(gatewise_core PRIVATE ${GATEWISE_OPTIMIZATION} -Wall -Wextra)

# The kernels once per target; simd/targets.cpp lists those that the machine can run.
function(add_kernels target)
  add_library(kernels_${target} OBJECT
    ${native_dir}/engine/kernels.cpp ${native_dir}/encode/kernels.cpp ${native_dir}/train/kernels.cpp)
  target_include_directories(kernels_${target} PRIVATE ${native_dir})
  target_compile_definitions(kernels_${target} PRIVATE GATEWISE_TARGET=${target})
  # Vector types make gcc warn about its own headers and about calls that do not happen.
  target_compile_options(kernels_${target} PRIVATE ${GATEWISE_OPTIMIZATION} -ffp-contract=fast -Wall -Wextra
    -Wno-psabi -Wno-ignored-attributes -Wno-maybe-uninitialized ${ARGN})
  target_sources(gatewise_core PRIVATE $<TARGET_OBJECTS:kernels_${target}>)
endfunction()

add_kernels(portable)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  add_kernels(avx2 -mavx2 -mfma -DGATEWISE_AVX2)
  add_kernels(avx512 -mavx512f -mavx512bw -mavx512dq -mavx512vl -mfma -mprefer-vector-width=512 -DGATEWISE_AVX512)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  add_kernels(neon -DGATEWISE_NEON)
endif()
