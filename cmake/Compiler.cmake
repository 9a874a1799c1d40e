# One place for what every translation unit is compiled with.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()

add_library(stet_options INTERFACE)
target_compile_options(stet_options INTERFACE
  -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Wnon-virtual-dtor
  -fstack-protector-strong -D_GLIBCXX_ASSERTIONS)
# Errors for those who work on Stet; whoever only builds it may have a compiler that warns of other things.
option(STET_WARNINGS_ARE_ERRORS "Stop at the first warning" ${STET_TESTS})
if(STET_WARNINGS_ARE_ERRORS)
  target_compile_options(stet_options INTERFACE -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
  target_compile_options(stet_options INTERFACE -Wno-restrict)  # gcc 12 sees overlaps in std::string that are none
endif()
if(NOT CMAKE_BUILD_TYPE STREQUAL "Debug" AND NOT STET_SANITIZE)
  target_compile_options(stet_options INTERFACE -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
endif()
target_include_directories(stet_options INTERFACE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)

if(STET_SANITIZE)
  add_compile_options(-fsanitize=${STET_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${STET_SANITIZE})
  if(STET_SANITIZE MATCHES "thread")
    # Asio's fences draw a warning under TSan; the findings are what this build is for.
    target_compile_options(stet_options INTERFACE -Wno-error)
  endif()
endif()

if(STET_FUZZ)  # libFuzzer steers by the coverage of everything, not of the target alone
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "The fuzzers need clang (CXX=clang++-19).")
  endif()
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()

find_program(LLD_PROGRAM ld.lld-19)
if(LLD_PROGRAM AND CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
  add_link_options(-fuse-ld=lld)
endif()

# gcc 12 destroys temporaries twice around co_await (docs/dependencies.md): a gateway built
# with it would be wrong in ways that no test can be trusted to show.
function(stet_require_sound_coroutines)
  if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU" AND CMAKE_CXX_COMPILER_VERSION VERSION_LESS 13)
    message(FATAL_ERROR
      "gcc ${CMAKE_CXX_COMPILER_VERSION} miscompiles coroutines: build the gateway with clang 16 or later "
      "(CXX=clang++-19) or gcc 13 or later, or the library alone with -DSTET_GATEWAY=OFF.")
  endif()
endfunction()
