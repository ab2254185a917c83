#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# programs.sh FILE FOLDER COMPILE...: compiles and runs every C++ program of a Markdown file. A block
# that opens with ```cpp is one; the ```output block that follows, if any, is what it prints.
set -eu
file=$1 folder=$2
shift 2
rm -rf "$folder"
mkdir -p "$folder"
awk -v folder="$folder" '
  /^```cpp$/ { target = folder "/" ++count ".cpp"; print "#line " NR + 1 " \"" FILENAME "\"" > target; next }
  /^```output$/ { target = folder "/" count ".txt"; next }
  /^```/ { target = ""; next }
  target { print > target }
' "$file"
for source in "$folder"/*.cpp; do
  program=${source%.cpp}
  "$@" "$source" -o "$program"
  "$program" > "$program.got"
  [ ! -f "$program.txt" ] || diff "$program.txt" "$program.got"
done
