#pragma once
#include "../../emulated_cub.hpp"
