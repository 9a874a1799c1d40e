# The library as others use it: find_package(Stet COMPONENTS core sqlite postgres http), and pkg-config (stet-core, …).
# Each component is an export set of its own, so that nobody needs the database that they do not use.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# A prefix that is moved, or chosen by `cmake --install --prefix`, is still found.
file(RELATIVE_PATH stet_pc_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
set(stet_cmake_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Stet)

# stet_component(name TARGETS … REQUIRES component … PACKAGES pkg-config-module … SUMMARY text)
function(stet_component name)
  cmake_parse_arguments(ARG "" "SUMMARY" "TARGETS;REQUIRES;PACKAGES" ${ARGN})
  # Stet::name stands for all of it.
  list(GET ARG_TARGETS 0 first)
  add_library(stet_component_${name} INTERFACE)
  target_link_libraries(stet_component_${name} INTERFACE ${first})
  foreach(required IN LISTS ARG_REQUIRES)
    target_link_libraries(stet_component_${name} INTERFACE stet_component_${required})
  endforeach()
  set_target_properties(stet_component_${name} PROPERTIES EXPORT_NAME ${name})

  install(TARGETS stet_component_${name} ${ARG_TARGETS}
    EXPORT Stet_${name}
    ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library
    INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  install(EXPORT Stet_${name} NAMESPACE Stet:: FILE Stet_${name}.cmake DESTINATION ${stet_cmake_dir} COMPONENT library)

  list(TRANSFORM ARG_TARGETS PREPEND "-l" OUTPUT_VARIABLE libraries)
  list(JOIN libraries " " pc_libraries)
  list(TRANSFORM ARG_REQUIRES PREPEND "stet-")
  set(pc_name stet-${name})
  set(pc_summary ${ARG_SUMMARY})
  list(JOIN ARG_REQUIRES " " requires)
  list(JOIN ARG_PACKAGES " " packages)
  set(pc_requires "${requires} ${packages}")
  configure_file(${PROJECT_SOURCE_DIR}/cmake/stet.pc.in ${PROJECT_BINARY_DIR}/stet-${name}.pc @ONLY)
  install(FILES ${PROJECT_BINARY_DIR}/stet-${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig COMPONENT library)
endfunction()

stet_component(core
  SUMMARY "Makes a write in your own transaction safe to retry"
  TARGETS stet_library_core stet_stores stet_core
  PACKAGES libcrypto)
stet_component(sqlite
  SUMMARY "Stet in your own SQLite database"
  TARGETS stet_sqlite_session
  REQUIRES core
  PACKAGES sqlite3)
stet_component(postgres
  SUMMARY "Stet in your own PostgreSQL database"
  TARGETS stet_postgres_pool stet_postgres stet_postgres_schema
  REQUIRES core
  PACKAGES libpq)
stet_component(http
  SUMMARY "Middleware for HTTP services"
  TARGETS stet_idempotent stet_identify stet_http
  REQUIRES core)

install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/stet DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT library
  FILES_MATCHING PATTERN "*.hpp")
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/StetConfig.cmake.in ${PROJECT_BINARY_DIR}/StetConfig.cmake
  INSTALL_DESTINATION ${stet_cmake_dir})
# Before 1.0 a minor version may change the interface (docs/library.md).
write_basic_package_version_file(${PROJECT_BINARY_DIR}/StetConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/StetConfig.cmake ${PROJECT_BINARY_DIR}/StetConfigVersion.cmake
  DESTINATION ${stet_cmake_dir} COMPONENT library)

if(TARGET stet)
  install(TARGETS stet RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT gateway)
endif()
