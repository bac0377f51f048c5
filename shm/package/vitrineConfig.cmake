# SPDX-License-Identifier: Apache-2.0
# find_package(vitrine) gives the target vitrine::vitrine.
include(${CMAKE_CURRENT_LIST_DIR}/vitrineTargets.cmake)
