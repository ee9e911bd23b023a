#!/bin/bash
# Builds convolve.wasm of convolve.c. Needs Python 3, which installs the compiler (Zig, which
# contains Clang). The same source gives the same bytes.
set -euo pipefail

ZIG=0.17.1

cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work"
"$work/bin/pip" install -q "ziglang==$ZIG"
"$work/bin/python" -m ziglang cc -target wasm32-freestanding -mcpu=generic+simd128 -O3 -nostdlib \
  -Wl,--no-entry -Wl,--strip-all -Wl,-z,stack-size=65536 -o "$work/convolve.wasm" convolve.c
cat "$work/convolve.wasm" > convolve.wasm
# resample.test.ts compares these, so that nobody changes the source alone.
sha256sum build-convolve.sh convolve.c convolve.wasm > convolve.sha256
wc -c convolve.wasm
