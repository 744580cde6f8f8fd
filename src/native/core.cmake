# The C++ core, free of Python: the extension module and the native tests link it.
find_package(Threads REQUIRED)

set(GATEWISE_OPTIMIZATION -O3 CACHE STRING "optimization level of the core")
set(native_dir ${CMAKE_CURRENT_LIST_DIR})
add_library(gatewise_core STATIC
  ${native_dir}/dispatch.cpp
  ${native_dir}/emit.cpp
  ${native_dir}/encode.cpp
  ${native_dir}/engine.cpp
  ${native_dir}/formula.cpp
  ${native_dir}/graph.cpp
  ${native_dir}/loss.cpp
  ${native_dir}/lower.cpp
  ${native_dir}/mixtures.cpp
  ${native_dir}/operations.cpp
  ${native_dir}/optimize.cpp
  ${native_dir}/plan.cpp
  ${native_dir}/pool.cpp
  ${native_dir}/rank.cpp
  ${native_dir}/relaxed_stack.cpp
  ${native_dir}/rewrite.cpp
  ${native_dir}/schedule.cpp
  ${native_dir}/tile.cpp
  ${native_dir}/train_step.cpp)
target_include_directories(gatewise_core PUBLIC ${native_dir})
target_link_libraries(gatewise_core PUBLIC Threads::Threads)
target_compile_options(gatewise_core PRIVATE ${GATEWISE_OPTIMIZATION} -Wall -Wextra)

# The kernels once per SIMD level; dispatch.cpp picks one at run time.
function(add_kernels level suffix)
  add_library(kernels_${level} OBJECT ${native_dir}/kernels.cpp ${native_dir}/relaxed_kernels.cpp)
  target_compile_definitions(kernels_${level} PRIVATE
    GATEWISE_LEVEL=${level} GATEWISE_KERNELS=k${suffix}Kernels GATEWISE_RELAXED=k${suffix}Relaxed)
  # Vector types make gcc warn about its own headers and about calls that do not happen.
  target_compile_options(kernels_${level} PRIVATE ${GATEWISE_OPTIMIZATION} -ffp-contract=fast -Wall -Wextra
    -Wno-psabi -Wno-ignored-attributes -Wno-maybe-uninitialized ${ARGN})
  target_sources(gatewise_core PRIVATE $<TARGET_OBJECTS:kernels_${level}>)
endfunction()

add_kernels(portable Portable)
if(CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  add_kernels(avx2 Avx2 -mavx2 -mfma -DGATEWISE_AVX2)
  add_kernels(avx512 Avx512 -mavx512f -mavx512bw -mavx512dq -mavx512vl -mfma -mprefer-vector-width=512 -DGATEWISE_AVX512)
elseif(CMAKE_SYSTEM_PROCESSOR MATCHES "^(aarch64|arm64)$")
  add_kernels(neon Neon -DGATEWISE_NEON)
endif()
