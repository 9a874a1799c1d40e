# stet_library(name SOURCES a.cpp … DEPENDS lib …)
function(stet_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  # How we compile is nobody else's affair: what is installed (Install.cmake) does not carry it.
  target_link_libraries(${name} PUBLIC $<BUILD_INTERFACE:stet_options> ${ARG_DEPENDS})
endfunction()

# stet_test(name SOURCES a_test.cpp … DEPENDS lib …): one executable, one test of ctest's: a process for each of more than a
# thousand cases would take longer than the cases, above all under a sanitizer. One case: name --gtest_filter=Suite.case
function(stet_test name)
  if(NOT STET_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE stet_options ${ARG_DEPENDS} GTest::gtest GTest::gmock GTest::gtest_main)
  add_test(NAME unit.${name} COMMAND ${name})
  set_tests_properties(unit.${name} PROPERTIES LABELS unit TIMEOUT 600 COST 120)
endfunction()

# One PostgreSQL for all of a ctest's tests that need one, on a socket in this directory (tests/support/postgres.py).
string(SHA256 STET_POSTGRES_DIRECTORY "${CMAKE_BINARY_DIR}")
string(SUBSTRING ${STET_POSTGRES_DIRECTORY} 0 12 STET_POSTGRES_DIRECTORY)
set(STET_POSTGRES_DIRECTORY /tmp/stet-pg-${STET_POSTGRES_DIRECTORY})
set(STET_TEST_POSTGRES "STET_TEST_POSTGRES=host=${STET_POSTGRES_DIRECTORY} port=5432 user=postgres dbname=postgres")

# stet_pgtest(name SOURCES a_pgtest.cpp … DEPENDS lib … [SHARDS n]): one executable, one test of ctest's or n side by side. What
# it prepares on the server is prepared once a process. The server's connection string, a superuser's, is in
# STET_TEST_POSTGRES; databases are the test's own.
function(stet_pgtest name)
  if(NOT STET_TESTS)
    return()
  endif()
  cmake_parse_arguments(ARG "" "SHARDS" "SOURCES;DEPENDS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE stet_options ${ARG_DEPENDS} GTest::gtest GTest::gmock GTest::gtest_main)
  if(NOT ARG_SHARDS)
    set(ARG_SHARDS 1)
  endif()
  foreach(shard RANGE 1 ${ARG_SHARDS})
    set(test postgres.${name})
    if(ARG_SHARDS GREATER 1)
      string(APPEND test "_${shard}of${ARG_SHARDS}")
    endif()
    math(EXPR index "${shard} - 1")
    add_test(NAME ${test} COMMAND ${name})
    set_tests_properties(${test} PROPERTIES LABELS "unit;postgres" TIMEOUT 600 COST 120 FIXTURES_REQUIRED postgres
      ENVIRONMENT "${STET_TEST_POSTGRES};GTEST_TOTAL_SHARDS=${ARG_SHARDS};GTEST_SHARD_INDEX=${index}")
  endforeach()
endfunction()
