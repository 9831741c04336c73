// The test framework, v2 or v3, behind one include.
#pragma once
#ifdef WEIR_CATCH2_V3
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif
