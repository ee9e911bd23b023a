/** A discrete Fourier transform of complex numbers, in place. */
export type FourierTransform = (real: Float64Array, imaginary: Float64Array) => void

/** Creates the fast Fourier transform (radix 2) of `size` complex numbers, a power of two. */
export function createTransform(size: number): FourierTransform {
  if (!Number.isInteger(Math.log2(size))) throw new RangeError(`no power of two: ${size}`)
  const cosines = Float64Array.from({ length: size }, (_, k) => Math.cos((Math.PI * k) / size))
  const sines = Float64Array.from({ length: size }, (_, k) => Math.sin((-Math.PI * k) / size))
  const reversed = reversedBits(size)

  return (real, imaginary) => {
    for (let i = 0; i < size; i++) {
      const j = reversed[i]!
      if (i >= j) continue
      const [re, im] = [real[i]!, imaginary[i]!]
      real[i] = real[j]!
      imaginary[i] = imaginary[j]!
      real[j] = re
      imaginary[j] = im
    }
    for (let span = 1; span < size; span *= 2) {
      const step = size / span
      for (let k = 0; k < span; k++) {
        const [c, s] = [cosines[k * step]!, sines[k * step]!]
        for (let upper = k; upper < size; upper += 2 * span) {
          const lower = upper + span
          const a = real[lower]! * c - imaginary[lower]! * s
          const b = real[lower]! * s + imaginary[lower]! * c
          real[lower] = real[upper]! - a
          imaginary[lower] = imaginary[upper]! - b
          real[upper]! += a
          imaginary[upper]! += b
        }
      }
    }
  }
}

function reversedBits(size: number): Uint16Array {
  const reversed = new Uint16Array(size)
  for (let i = 1; i < size; i++) {
    reversed[i] = (reversed[i >> 1]! >> 1) | (i & 1 ? size >> 1 : 0)
  }
  return reversed
}

/** Joins groups of `radix` transforms of `done` numbers each, in Stockham's order. */
type FourierStage = {
  radix: 4 | 5
  done: number
  stride: number
  cosines: Float64Array
  sines: Float64Array
}
type Complex = { real: Float64Array; imaginary: Float64Array }

/**
 * Creates the Fourier transform of as many complex numbers as the product of `factors` (Stockham's
 * form, mixed radix).
 */
export function createMixedTransform(factors: readonly (4 | 5)[]): FourierTransform {
  const size = factors.reduce((product, factor) => product * factor, 1)
  const spare = { real: new Float64Array(size), imaginary: new Float64Array(size) }
  let before = 1
  const stages = factors.map((radix): FourierStage => {
    const done = before
    before *= radix
    const angles = Array.from({ length: done * radix }, (_, i) => {
      return (-2 * Math.PI * Math.floor(i / radix) * (i % radix)) / (done * radix)
    })
    return {
      radix,
      done,
      stride: size / (done * radix),
      cosines: Float64Array.from(angles, Math.cos),
      sines: Float64Array.from(angles, Math.sin),
    }
  })
  return (real, imaginary) => {
    let from: Complex = { real, imaginary }
    let to: Complex = spare
    for (const stage of stages) {
      if (stage.radix === 4) joinFours(from, to, stage)
      else joinFives(from, to, stage)
      ;[from, to] = [to, from]
    }
    if (from !== spare) return
    real.set(spare.real)
    imaginary.set(spare.imaginary)
  }
}

function joinFours(
  from: Complex,
  to: Complex,
  { done, stride, cosines, sines }: FourierStage,
): void {
  const [re, im, outRe, outIm] = [from.real, from.imaginary, to.real, to.imaginary]
  const step = done * stride
  for (let p = 0; p < done; p++) {
    const w = p * 4
    const [c1, s1, c2, s2] = [cosines[w + 1]!, sines[w + 1]!, cosines[w + 2]!, sines[w + 2]!]
    const [c3, s3] = [cosines[w + 3]!, sines[w + 3]!]
    for (let q = 0; q < stride; q++) {
      const i0 = w * stride + q
      const i1 = i0 + stride
      const i2 = i1 + stride
      const i3 = i2 + stride
      const a0 = re[i0]!
      const b0 = im[i0]!
      const a1 = re[i1]! * c1 - im[i1]! * s1
      const b1 = re[i1]! * s1 + im[i1]! * c1
      const a2 = re[i2]! * c2 - im[i2]! * s2
      const b2 = re[i2]! * s2 + im[i2]! * c2
      const a3 = re[i3]! * c3 - im[i3]! * s3
      const b3 = re[i3]! * s3 + im[i3]! * c3
      const o = p * stride + q
      outRe[o] = a0 + a2 + (a1 + a3)
      outIm[o] = b0 + b2 + (b1 + b3)
      outRe[o + step] = a0 - a2 + (b1 - b3)
      outIm[o + step] = b0 - b2 - (a1 - a3)
      outRe[o + 2 * step] = a0 + a2 - (a1 + a3)
      outIm[o + 2 * step] = b0 + b2 - (b1 + b3)
      outRe[o + 3 * step] = a0 - a2 - (b1 - b3)
      outIm[o + 3 * step] = b0 - b2 + (a1 - a3)
    }
  }
}

const COS_1 = Math.cos((2 * Math.PI) / 5)
const COS_2 = Math.cos((4 * Math.PI) / 5)
const SIN_1 = Math.sin((2 * Math.PI) / 5)
const SIN_2 = Math.sin((4 * Math.PI) / 5)

function joinFives(
  from: Complex,
  to: Complex,
  { done, stride, cosines, sines }: FourierStage,
): void {
  const [re, im, outRe, outIm] = [from.real, from.imaginary, to.real, to.imaginary]
  const step = done * stride
  for (let p = 0; p < done; p++) {
    const w = p * 5
    const [c1, s1, c2, s2] = [cosines[w + 1]!, sines[w + 1]!, cosines[w + 2]!, sines[w + 2]!]
    const [c3, s3, c4, s4] = [cosines[w + 3]!, sines[w + 3]!, cosines[w + 4]!, sines[w + 4]!]
    for (let q = 0; q < stride; q++) {
      const i0 = w * stride + q
      const i1 = i0 + stride
      const i2 = i1 + stride
      const i3 = i2 + stride
      const i4 = i3 + stride
      const a0 = re[i0]!
      const b0 = im[i0]!
      const a1 = re[i1]! * c1 - im[i1]! * s1
      const b1 = re[i1]! * s1 + im[i1]! * c1
      const a2 = re[i2]! * c2 - im[i2]! * s2
      const b2 = re[i2]! * s2 + im[i2]! * c2
      const a3 = re[i3]! * c3 - im[i3]! * s3
      const b3 = re[i3]! * s3 + im[i3]! * c3
      const a4 = re[i4]! * c4 - im[i4]! * s4
      const b4 = re[i4]! * s4 + im[i4]! * c4
      // The sums and differences of the values that mirror each other.
      const [as, ad, at, au] = [a1 + a4, a1 - a4, a2 + a3, a2 - a3]
      const [bs, bd, bt, bu] = [b1 + b4, b1 - b4, b2 + b3, b2 - b3]
      const evenA1 = a0 + COS_1 * as + COS_2 * at
      const evenB1 = b0 + COS_1 * bs + COS_2 * bt
      const evenA2 = a0 + COS_2 * as + COS_1 * at
      const evenB2 = b0 + COS_2 * bs + COS_1 * bt
      const oddA1 = SIN_1 * bd + SIN_2 * bu
      const oddB1 = SIN_1 * ad + SIN_2 * au
      const oddA2 = SIN_2 * bd - SIN_1 * bu
      const oddB2 = SIN_2 * ad - SIN_1 * au
      const o = p * stride + q
      outRe[o] = a0 + as + at
      outIm[o] = b0 + bs + bt
      outRe[o + step] = evenA1 + oddA1
      outIm[o + step] = evenB1 - oddB1
      outRe[o + 2 * step] = evenA2 + oddA2
      outIm[o + 2 * step] = evenB2 - oddB2
      outRe[o + 3 * step] = evenA2 - oddA2
      outIm[o + 3 * step] = evenB2 + oddB2
      outRe[o + 4 * step] = evenA1 - oddA1
      outIm[o + 4 * step] = evenB1 + oddB1
    }
  }
}
