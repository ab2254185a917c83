// SPDX-License-Identifier: Apache-2.0
// Carries the precompiled header that every compiler library shares (Pch.h).
