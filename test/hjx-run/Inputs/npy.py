# SPDX-License-Identifier: Apache-2.0
#
# npy.py FILE DESCR SHAPE FIRST FACTOR: an array of FIRST + FACTOR * i, modulo 251, without NumPy.
import struct
import sys

path, descr, shape, first, factor = sys.argv[1], sys.argv[2], eval(sys.argv[3]), float(sys.argv[4]), float(sys.argv[5])
count = 1
for dim in shape:
    count *= dim
values = [(first + factor * i) % 251 for i in range(count)]
code = {"<i4": "i", "<u4": "I", "<f4": "f"}[descr]
header = str({"descr": descr, "fortran_order": False, "shape": shape})
header += " " * (-(len(header) + 11) % 64) + "\n"
with open(path, "wb") as f:
    f.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode())
    f.write(struct.pack(f"<{count}{code}", *[v if code == "f" else int(v) for v in values]))
