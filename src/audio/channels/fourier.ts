// These loops do not destructure arrays: that makes them several times as slow.

/** A discrete Fourier transform of complex numbers, in place. */
export type FourierTransform = (real: Float64Array, imaginary: Float64Array) => void

/**
 * Creates the fast Fourier transform of `size` complex numbers, a power of two. One pass over the
 * numbers does two steps of radix 2, so that each is read and written half as often.
 */
export function createTransform(size: number): FourierTransform {
  const steps = Math.log2(size)
  if (!Number.isInteger(steps)) throw new RangeError(`no power of two: ${size}`)
  const reversed = reversedBits(size)
  const isOdd = steps % 2 === 1
  const passes: DoubleStep[] = []
  for (let span = isOdd ? 2 : 1; span < size; span *= 4) passes.push(createDoubleStep(span))

  return (real, imaginary) => {
    for (let i = 0; i < size; i++) {
      const j = reversed[i]!
      if (i >= j) continue
      const re = real[i]!
      const im = imaginary[i]!
      real[i] = real[j]!
      imaginary[i] = imaginary[j]!
      real[j] = re
      imaginary[j] = im
    }
    if (isOdd) combineTwos(real, imaginary)
    for (const pass of passes) combineTwice(real, imaginary, pass)
  }
}

/** Combines pairs of numbers: the step that needs no factors. */
function combineTwos(real: Float64Array, imaginary: Float64Array): void {
  for (let i = 0; i < real.length; i += 2) {
    const re = real[i + 1]!
    const im = imaginary[i + 1]!
    real[i + 1] = real[i]! - re
    imaginary[i + 1] = imaginary[i]! - im
    real[i]! += re
    imaginary[i]! += im
  }
}

/** Two steps, which combine four transforms of `span` numbers each, and their factors. */
type DoubleStep = {
  span: number
  cosines1: Float64Array
  sines1: Float64Array
  cosines2: Float64Array
  sines2: Float64Array
}

function createDoubleStep(span: number): DoubleStep {
  const factors = (size: number, part: (angle: number) => number) => {
    return Float64Array.from({ length: span }, (_, k) => part((-2 * Math.PI * k) / size))
  }
  return {
    span,
    cosines1: factors(2 * span, Math.cos),
    sines1: factors(2 * span, Math.sin),
    cosines2: factors(4 * span, Math.cos),
    sines2: factors(4 * span, Math.sin),
  }
}

function combineTwice(
  re: Float64Array,
  im: Float64Array,
  { span, cosines1, sines1, cosines2, sines2 }: DoubleStep,
): void {
  for (let start = 0; start < re.length; start += 4 * span) {
    for (let k = 0; k < span; k++) {
      const i0 = start + k
      const i1 = i0 + span
      const i2 = i1 + span
      const i3 = i2 + span
      // The first step combines the first two transforms, and the last two.
      const c1 = cosines1[k]!
      const s1 = sines1[k]!
      const a1 = re[i1]! * c1 - im[i1]! * s1
      const b1 = re[i1]! * s1 + im[i1]! * c1
      const a3 = re[i3]! * c1 - im[i3]! * s1
      const b3 = re[i3]! * s1 + im[i3]! * c1
      const sumA0 = re[i0]! + a1
      const sumB0 = im[i0]! + b1
      const differenceA0 = re[i0]! - a1
      const differenceB0 = im[i0]! - b1
      const sumA2 = re[i2]! + a3
      const sumB2 = im[i2]! + b3
      const differenceA2 = re[i2]! - a3
      const differenceB2 = im[i2]! - b3
      // The second does so with the results; factors of its upper half are a quarter turn further.
      const c2 = cosines2[k]!
      const s2 = sines2[k]!
      const a2 = sumA2 * c2 - sumB2 * s2
      const b2 = sumA2 * s2 + sumB2 * c2
      const turnedA = differenceA2 * s2 + differenceB2 * c2
      const turnedB = differenceB2 * s2 - differenceA2 * c2
      re[i0] = sumA0 + a2
      im[i0] = sumB0 + b2
      re[i1] = differenceA0 + turnedA
      im[i1] = differenceB0 + turnedB
      re[i2] = sumA0 - a2
      im[i2] = sumB0 - b2
      re[i3] = differenceA0 - turnedA
      im[i3] = differenceB0 - turnedB
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

/**
 * A stage of the transform: combines groups of `radix` transforms of `done` numbers each, in
 * Stockham's order.
 */
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
  let transformed = 1
  const stages = factors.map((radix): FourierStage => {
    const done = transformed
    transformed *= radix
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
      if (stage.radix === 4) combineFours(from, to, stage)
      else combineFives(from, to, stage)
      ;[from, to] = [to, from]
    }
    if (from !== spare) return
    real.set(spare.real)
    imaginary.set(spare.imaginary)
  }
}

function combineFours(
  from: Complex,
  to: Complex,
  { done, stride, cosines, sines }: FourierStage,
): void {
  const [re, im, outRe, outIm] = [from.real, from.imaginary, to.real, to.imaginary]
  const step = done * stride
  for (let p = 0; p < done; p++) {
    const w = p * 4
    const c1 = cosines[w + 1]!
    const s1 = sines[w + 1]!
    const c2 = cosines[w + 2]!
    const s2 = sines[w + 2]!
    const c3 = cosines[w + 3]!
    const s3 = sines[w + 3]!
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

function combineFives(
  from: Complex,
  to: Complex,
  { done, stride, cosines, sines }: FourierStage,
): void {
  const [re, im, outRe, outIm] = [from.real, from.imaginary, to.real, to.imaginary]
  const step = done * stride
  for (let p = 0; p < done; p++) {
    const w = p * 5
    const c1 = cosines[w + 1]!
    const s1 = sines[w + 1]!
    const c2 = cosines[w + 2]!
    const s2 = sines[w + 2]!
    const c3 = cosines[w + 3]!
    const s3 = sines[w + 3]!
    const c4 = cosines[w + 4]!
    const s4 = sines[w + 4]!
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
      // The sums and differences of values at symmetric positions.
      const as = a1 + a4
      const ad = a1 - a4
      const at = a2 + a3
      const au = a2 - a3
      const bs = b1 + b4
      const bd = b1 - b4
      const bt = b2 + b3
      const bu = b2 - b3
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
