# The C++ core, free of Python: the extension module and the native tests link it.
find_package(Threads REQUIRED)

set(native_dir ${CMAKE_CURRENT_LIST_DIR})
add_library(gatewise_core STATIC
  ${native_dir}/emit.cpp
  ${native_dir}/graph.cpp
  ${native_dir}/optimize.cpp
  ${native_dir}/program.cpp
  ${native_dir}/rewrite.cpp)
target_include_directories(gatewise_core PUBLIC ${native_dir})
target_link_libraries(gatewise_core PUBLIC Threads::Threads)
target_compile_options(gatewise_core PRIVATE -O3 -Wall -Wextra)
