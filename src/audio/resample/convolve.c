// The inner loop of ../resample.ts, as a WebAssembly module without imports: sums of filter taps
// times samples, four at a time. build-convolve.sh compiles it.

#define EXPORT(name) __attribute__((export_name(name)))

typedef float Four __attribute__((vector_size(16), aligned(4)));

extern unsigned char __heap_base;

/** The first address that the caller may use. */
EXPORT("base") int base(void) { return (int)&__heap_base; }

/**
 * Computes `count` output samples. The filter of the first starts at `in`, with the row for the
 * position `part / denominator` between two input samples; each further one is `whole` samples and
 * `part_step / denominator` later. There are `phases` rows of `taps` (a multiple of four) for
 * the positions; if that is fewer than `denominator`, the nearest is taken.
 */
EXPORT("convolve") void convolve(const float *in, const float *rows, float *out, int count, int part,
                                 int whole, int part_step, int denominator, int phases, int taps) {
  for (int i = 0; i < count; i++) {
    int row = part;
    if (phases != denominator) row = (int)((double)part * phases / denominator + 0.5);
    const float *filter = rows + (long)row * taps;
    Four a = {0}, b = {0}, c = {0}, d = {0};
    int tap = 0;
    for (; tap + 16 <= taps; tap += 16) {
      a += *(const Four *)(filter + tap) * *(const Four *)(in + tap);
      b += *(const Four *)(filter + tap + 4) * *(const Four *)(in + tap + 4);
      c += *(const Four *)(filter + tap + 8) * *(const Four *)(in + tap + 8);
      d += *(const Four *)(filter + tap + 12) * *(const Four *)(in + tap + 12);
    }
    for (; tap < taps; tap += 4)
      a += *(const Four *)(filter + tap) * *(const Four *)(in + tap);
    Four sum = a + b + (c + d);
    out[i] = sum[0] + sum[1] + (sum[2] + sum[3]);
    in += whole;
    part += part_step;
    if (part >= denominator) {
      part -= denominator;
      in++;
    }
  }
}
