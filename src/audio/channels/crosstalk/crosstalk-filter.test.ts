import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRandom } from '../../../../test/support/random/random.ts'
import { CrosstalkFilter, FILTER_TAPS } from './crosstalk-filter.ts'
import { FILTER_BINS, type SpectrumValues } from './filter-spectra.ts'

const SPECTRA = 64

/** Random complex numbers of normal energy. */
function randomSpectra(count: number, seed: number): SpectrumValues[] {
  const random = createRandom(seed)
  const values = () => Float64Array.from({ length: FILTER_BINS }, () => random() * 2 - 1)
  return Array.from({ length: count }, () => ({ re: values(), im: values() }))
}

/** A source, and what two of the taps leak into a target: 0.3 of one, -0.2i of another. */
function leak(ownLevel: (n: number) => number, gain = 1) {
  const source = randomSpectra(SPECTRA + FILTER_TAPS, 1)
  const own = randomSpectra(SPECTRA, 2)
  return own.map((spectrum, n) => {
    const taps = Array.from({ length: FILTER_TAPS }, (_, k) => source[n + FILTER_TAPS - k]!)
    const [a, , b] = taps as [SpectrumValues, SpectrumValues, SpectrumValues]
    const level = ownLevel(n)
    const target = {
      re: spectrum.re.map((re, i) => gain * (0.3 * a.re[i]! + 0.2 * b.im[i]!) + level * re),
      im: spectrum.im.map((im, i) => gain * (0.3 * a.im[i]! - 0.2 * b.re[i]!) + level * im),
    }
    return { taps, target }
  })
}

/** Returns the error of the gains, as a share of the energy of the crosstalk. */
function errorOf(filter: CrosstalkFilter): number {
  let [error, energy] = [0, 0]
  for (const { taps, target } of leak(() => 0)) {
    const { re, im } = filter.predict(taps)
    for (let bin = 0; bin < FILTER_BINS; bin++) {
      error += (target.re[bin]! - re[bin]!) ** 2 + (target.im[bin]! - im[bin]!) ** 2
      energy += target.re[bin]! ** 2 + target.im[bin]! ** 2
    }
  }
  return error / energy
}

function learnAll(filter: CrosstalkFilter, ownLevel: (n: number) => number, gain = 1): void {
  for (const { taps, target } of leak(ownLevel, gain)) filter.learn(target, taps)
}

test('a filter predicts nothing before it has learned', () => {
  assert.equal(errorOf(new CrosstalkFilter()), 1)
})

test('a filter learns the complex gain of each tap', () => {
  const filter = new CrosstalkFilter()
  learnAll(filter, () => 0)
  assert.ok(errorOf(filter) < 1e-4, `${errorOf(filter)}`)
})

test('a filter returns what it predicted before it learned a spectrum', () => {
  const filter = new CrosstalkFilter()
  const spectra = leak(() => 0)
  const first = filter.learn(spectra[0]!.target, spectra[0]!.taps)
  assert.ok(first.re.every((value) => value === 0))
  learnAll(filter, () => 0)
  const { re } = filter.learn(spectra[1]!.target, spectra[1]!.taps)
  assert.ok(re.every((value, bin) => Math.abs(value - spectra[1]!.target.re[bin]!) < 0.01))
})

test('a prediction is added to a spectrum with a factor', () => {
  const filter = new CrosstalkFilter()
  learnAll(filter, () => 0)
  const { taps, target } = leak(() => 0)[3]!
  const sum = { re: target.re.slice(), im: target.im.slice() }
  filter.addPrediction(sum, taps, -1)
  assert.ok(sum.re.every((value) => Math.abs(value) < 0.01))
})

test('moments in which the target speaks hardly count', () => {
  const filter = new CrosstalkFilter()
  learnAll(filter, (n) => (n % 2 === 0 ? 1 : 0.01))
  assert.ok(errorOf(filter) < 0.05, `${errorOf(filter)}`)
})

test('what a filter forgets has the weight that is left', () => {
  const learned = (factor: number) => {
    const filter = new CrosstalkFilter()
    learnAll(filter, () => 3)
    filter.forget(factor)
    learnAll(filter, () => 0.3)
    return errorOf(filter)
  }
  assert.ok(learned(0) < learned(1), `${learned(0)} ${learned(1)}`)
})

test('a filter learns a path that changed', () => {
  const filter = new CrosstalkFilter()
  learnAll(filter, () => 0.1, -1)
  for (let block = 0; block < 4; block++) {
    filter.forget(0.5)
    learnAll(filter, () => 0.1)
  }
  assert.ok(errorOf(filter) < 0.1, `${errorOf(filter)}`)
})

test('bins without energy get no gain', () => {
  const filter = new CrosstalkFilter()
  const silence = { re: new Float64Array(FILTER_BINS), im: new Float64Array(FILTER_BINS) }
  const taps = Array.from({ length: FILTER_TAPS }, () => silence)
  for (const target of randomSpectra(SPECTRA, 2)) filter.learn(target, taps)
  assert.ok(filter.predict(randomSpectra(FILTER_TAPS, 3)).re.every((value) => value === 0))
})
