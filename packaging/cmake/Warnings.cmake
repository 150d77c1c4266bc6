# SPDX-License-Identifier: GPL-3.0-or-later
# One INTERFACE target holds every warning; presets decide whether they are errors.
add_library(prosector_warnings INTERFACE)
target_compile_options(prosector_warnings INTERFACE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wnon-virtual-dtor -Wno-missing-field-initializers)
# GCC 12 sees overlapping copies in `"literal" + std::string()` where there are none (its bug 105651).
target_compile_options(prosector_warnings INTERFACE
    $<$<AND:$<CXX_COMPILER_ID:GNU>,$<VERSION_LESS:$<CXX_COMPILER_VERSION>,13>>:-Wno-restrict>)
# Optimising, it takes the empty state of a std::optional for a value; the sanitizers look for the real thing.
target_compile_options(prosector_warnings INTERFACE
    $<$<AND:$<CXX_COMPILER_ID:GNU>,$<CONFIG:Release,RelWithDebInfo>>:-Wno-maybe-uninitialized>)
option(PROSECTOR_WERROR "Warnings are errors" OFF)
if(PROSECTOR_WERROR)
    target_compile_options(prosector_warnings INTERFACE -Werror)
endif()

# For targets that use Qt.
add_library(prosector_qt_rules INTERFACE)
target_compile_definitions(prosector_qt_rules INTERFACE
    QT_NO_CAST_FROM_ASCII QT_NO_CAST_TO_ASCII QT_NO_URL_CAST_FROM_STRING
    QT_NO_NARROWING_CONVERSIONS_IN_CONNECT QT_DISABLE_DEPRECATED_BEFORE=0x060400)

# ccache where it is present.
find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
    set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()
