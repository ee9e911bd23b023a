import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createRandom } from '../../../../test/support/random/random.ts'
import { CrosstalkFilter, FILTER_BINS, FILTER_TAPS, type SpectrumView } from './crosstalk-filter.ts'

const SPECTRA = 60
const floor = new Float64Array(FILTER_BINS).fill(1e-6)

/** Random complex numbers of normal energy. */
function randomSpectra(count: number, seed: number) {
  const random = createRandom(seed)
  const values = () => Float64Array.from({ length: count * FILTER_BINS }, () => random() * 2 - 1)
  return { re: values(), im: values() }
}

/** A source, and what two of the taps leak into a target: 0.3 of one, -0.2i of another. */
function leak(ownLevel: (n: number) => number) {
  const source = randomSpectra(SPECTRA + FILTER_TAPS, 1)
  const own = randomSpectra(SPECTRA, 2)
  const target = randomSpectra(SPECTRA, 3)
  const tapsAt = (n: number): SpectrumView[] => {
    return Array.from({ length: FILTER_TAPS }, (_, k) => {
      return { ...source, offset: (n + FILTER_TAPS - k) * FILTER_BINS }
    })
  }
  for (let n = 0; n < SPECTRA; n++) {
    const [a, b] = [tapsAt(n)[0]!.offset, tapsAt(n)[2]!.offset]
    for (let bin = 0; bin < FILTER_BINS; bin++) {
      const at = n * FILTER_BINS + bin
      const level = ownLevel(n)
      target.re[at] = 0.3 * source.re[a + bin]! + 0.2 * source.im[b + bin]! + level * own.re[at]!
      target.im[at] = 0.3 * source.im[a + bin]! - 0.2 * source.re[b + bin]! + level * own.im[at]!
    }
  }
  return { target, tapsAt }
}

/** Returns the error of the gains, as a share of the energy of the crosstalk. */
function errorOf(filter: CrosstalkFilter): number {
  const { target, tapsAt } = leak(() => 0)
  let [error, energy] = [0, 0]
  for (let n = 0; n < SPECTRA; n++) {
    const { re, im } = filter.predict(tapsAt(n))
    for (let bin = 0; bin < FILTER_BINS; bin++) {
      const at = n * FILTER_BINS + bin
      error += (target.re[at]! - re[bin]!) ** 2 + (target.im[at]! - im[bin]!) ** 2
      energy += target.re[at]! ** 2 + target.im[at]! ** 2
    }
  }
  return error / energy
}

function learnAll(filter: CrosstalkFilter, ownLevel: (n: number) => number): void {
  const { target, tapsAt } = leak(ownLevel)
  for (let n = 0; n < SPECTRA; n++) {
    filter.learn({ ...target, offset: n * FILTER_BINS }, tapsAt(n), floor)
  }
  filter.fit()
}

test('a filter predicts nothing before it has learned', () => {
  assert.equal(errorOf(new CrosstalkFilter()), 1)
})

test('a filter learns the complex gain of each tap', () => {
  const filter = new CrosstalkFilter()
  learnAll(filter, () => 0)
  assert.ok(errorOf(filter) < 1e-4, `${errorOf(filter)}`)
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

test('bins without energy get no gain', () => {
  const filter = new CrosstalkFilter()
  const silence = { ...randomSpectra(1, 1), offset: 0 }
  silence.re.fill(0)
  silence.im.fill(0)
  const taps = Array.from({ length: FILTER_TAPS }, () => silence)
  filter.learn({ ...randomSpectra(1, 2), offset: 0 }, taps, floor)
  filter.fit()
  const loud = Array.from({ length: FILTER_TAPS }, () => ({ ...randomSpectra(1, 3), offset: 0 }))
  assert.ok(filter.predict(loud).re.every((value) => value === 0))
})
