#!/bin/bash
# Builds libav.wasm: libav (FFmpeg's libraries) with all audio decoders, the demuxers that
# src/audio/containers chooses from, and the functions of libav.c.
#
#   src/audio/libav/wasm/build-libav.sh [FOLDER]
#
# FOLDER holds the archives of the sources; what is missing there is downloaded. Needs bash, curl,
# tar, make and Python 3, which installs the compiler (Zig, which contains Clang). The same sources
# give the same bytes. It takes two minutes.
set -euo pipefail

FFMPEG=8.1.2
FFMPEG_SHA256=464beb5e7bf0c311e68b45ae2f04e9cc2af88851abb4082231742a74d97b524c
ZLIB=1.3.2
# Of the files that are used, one after the other: archives of zlib are packed in several ways.
ZLIB_SHA256=47d383d7d3babb84d174c4f740f26cd68d86e59ca410749644ded5082eb04d55
ZIG=0.17.1

here=$(cd "$(dirname "$0")" && pwd)
sources=${1:+$(cd "$1" && pwd)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

# Decoders of audio that are listed elsewhere than the others, among pictures.
OTHER_DECODERS='eightsvx_exp eightsvx_fib comfortnoise dvaudio rka s302m speex'
DEMUXERS='aac ac3 aiff amr asf au avi caf dss dts dv eac3 flac flv g722 gsm loas matroska mlp mov mp3
  mpegps mpegts mxf nistsphere ogg rm truehd tta voc w64 wav wv'
# MPEG streams do not always say what a track is: libav asks which of these recognizes its bytes.
PROBED_DEMUXERS='aptx av1 dvbsub dvbtxt evc h264 hevc m4v mpegvideo obu vvc'
ZLIB_FILES='adler32.c crc32.c inffast.c inflate.c inftrees.c uncompr.c zutil.c
  crc32.h gzguts.h inffast.h inffixed.h inflate.h inftrees.h zconf.h zlib.h zutil.h'
# SIMD of WebAssembly; additions of floating point numbers may be reordered, which lets the
# compiler use it. The order is then fixed: all machines compute the same samples.
FLAGS='-mcpu=generic+simd128+bulk_memory+nontrapping_fptoint -O3 -fassociative-math
  -fno-signed-zeros -fno-trapping-math -Wno-everything -D_WASI_EMULATED_PROCESS_CLOCKS
  -D_WASI_EMULATED_SIGNAL -D_WASI_EMULATED_MMAN'
STACK_BYTES=1048576
MEMORY_BYTES=2147418112

# get NAME URL: the archive NAME, of the given folder or from URL.
get() {
  if [ -n "$sources" ] && [ -f "$sources/$1" ]; then cp "$sources/$1" .; else curl -fLo "$1" "$2"; fi
}

check() {
  [ "$(sha256sum | cut -d ' ' -f 1)" = "$2" ] || { echo "$1 has other content than expected" >&2; exit 1; }
}

get "ffmpeg-$FFMPEG.tar.xz" "https://ffmpeg.org/releases/ffmpeg-$FFMPEG.tar.xz"
get "zlib-$ZLIB.tar.gz" "https://zlib.net/fossils/zlib-$ZLIB.tar.gz"
check FFmpeg "$FFMPEG_SHA256" < "ffmpeg-$FFMPEG.tar.xz"
mkdir ffmpeg zlib zlib-archive
tar xf "ffmpeg-$FFMPEG.tar.xz" -C ffmpeg --strip-components 1
tar xf "zlib-$ZLIB.tar.gz" -C zlib-archive --strip-components 1

python3 -m venv python
python/bin/pip install -q "ziglang==$ZIG"
tool() {
  printf '#!/bin/sh\nexec "%s/python/bin/python" -m ziglang %s "$@"\n' "$work" "$2" > "$1"
  chmod +x "$1"
}
tool cc "cc -target wasm32-wasi $(echo $FLAGS)"
tool ar ar
tool ranlib ranlib

cd zlib-archive
cat $ZLIB_FILES | check zlib "$ZLIB_SHA256"
cp $ZLIB_FILES ../zlib
cd ../zlib
for file in *.c; do ../cc -c "$file"; done
../ar rcs libz.a ./*.o
cd ../ffmpeg

# The only change of FFmpeg's sources: the demuxer of Matroska skips attachments. It would keep
# several copies of them, and films bring 150 MB of fonts.
sed -i '/^    { MATROSKA_ID_ATTACHMENTS,/s|EBML_LEVEL1.*|EBML_NONE }, // Changed for Steno, 2026.|' \
  libavformat/matroskadec.c

decoders=$(sed -n '/^\/\* audio codecs/,/^\/\* subtitles/p' libavcodec/allcodecs.c |
  sed -n 's/.* ff_\(.*\)_decoder;/\1/p')
./configure --enable-cross-compile --target-os=none --arch=wasm32 \
  --cc="$work/cc" --ar="$work/ar" --ranlib="$work/ranlib" \
  --extra-cflags=-I../zlib --extra-ldflags=-L../zlib \
  --disable-everything --disable-autodetect --disable-programs --disable-doc --disable-debug \
  --disable-network --disable-pthreads --disable-asm --disable-runtime-cpudetect \
  --disable-stripping --disable-avdevice --disable-avfilter --disable-swscale \
  --enable-zlib --enable-parsers \
  --enable-demuxer="$(echo $DEMUXERS $PROBED_DEMUXERS | tr ' ' ,)" \
  --enable-decoder="$(echo $decoders $OTHER_DECODERS | tr ' ' ,)"
libraries='libavformat/libavformat.a libavcodec/libavcodec.a libswresample/libswresample.a
  libavutil/libavutil.a'
make -j"$(nproc)" $libraries
../cc -I. -mexec-model=reactor -o "$work/libav.wasm" "$here/libav.c" $libraries ../zlib/libz.a \
  -lwasi-emulated-process-clocks -lwasi-emulated-signal -lwasi-emulated-mman \
  -Wl,--strip-all -Wl,--gc-sections -Wl,-z,stack-size=$STACK_BYTES -Wl,--max-memory=$MEMORY_BYTES

cd "$here"
cat "$work/libav.wasm" > libav.wasm
# Copies of the module have to come with a copy of its license.
cat "$work/ffmpeg/COPYING.LGPLv2.1" > COPYING.LGPLv2.1
# libav.test.ts compares these, so that nobody changes the sources alone.
sha256sum build-libav.sh COPYING.LGPLv2.1 libav.c libav.wasm > libav.sha256
wc -c libav.wasm
