// SPDX-License-Identifier: Apache-2.0
//
// --load-hjx-plugin=<file>: hi-types and primitives of users for a tool.
//
// A plugin is a shared object of classes with HJX_REGISTER_TYPE and _PRIMITIVE, compiled
// against the public headers and linked to nothing: hjx's symbols are the tool's, so
// that there is one registry and one set of types. Loading it registers them.
#pragma once

namespace hjx {

/// Adds the option, whose plugins are loaded while the command line is parsed; call it before that.
void registerHiPluginOption();

} // namespace hjx
