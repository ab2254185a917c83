// SPDX-License-Identifier: Apache-2.0
//
// The mark of what libhjx exports; every other symbol of the library is hidden.
#pragma once

#define HJX_API __attribute__((visibility("default")))
