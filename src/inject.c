/* SPDX-License-Identifier: MIT */
/* The hook of a test build; not part of a production build. */
#include "inject.h"

int (*dormant_inject)(enum inject_point point);
