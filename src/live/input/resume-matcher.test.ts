import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { rounds } from '../../../test/support/random/rounds.ts'
import { createResumeMatcher, type ReceivedBytes } from './resume-matcher.ts'

/** Implements the rule of resumption by trying every boundary. */
function findSlowly({ from, stored, boundaries }: ReceivedBytes, arrived: Uint8Array): number {
  const position = boundaries.find((at) => {
    const rest = stored.subarray(at - from)
    if (at < from || rest.every((byte) => byte === rest[0])) return false
    return Buffer.from(rest).equals(arrived.subarray(0, rest.length))
  })
  return position ?? from + stored.length
}

/**
 * Passes frames to a matcher until it decides; also returns how many bytes it took, undefined = all
 * and more.
 */
function find(lost: ReceivedBytes, frames: Uint8Array[]): [number, number | undefined] {
  const finder = createResumeMatcher(lost)
  let taken = 0
  for (const frame of frames) {
    const position = finder.write(frame)
    taken += frame.length
    if (position !== undefined) return [position, taken]
  }
  return [finder.decide(), undefined]
}

const bytes = (text: string) => Buffer.from(text)

/** Returns stored text with a `|` at each boundary, from session byte 100 on. */
function lost(text: string): ReceivedBytes {
  const boundaries: number[] = []
  for (const part of text.split('|')) boundaries.push((boundaries.at(-1) ?? 100) + part.length)
  return { from: 100, stored: bytes(text.replaceAll('|', '')), boundaries }
}

test('repeated audio is matched to the boundary after which it was stored', () => {
  assert.deepEqual(find(lost('abc|def|ghi'), [bytes('defghi')]), [103, 6])
  assert.deepEqual(find(lost('abc|def|ghi'), [bytes('ghijkl')]), [106, 6])
  assert.deepEqual(find(lost('|abc|def'), [bytes('abcdefgh')]), [100, 8])
})

test('audio that no boundary matches continues at the end', () => {
  assert.deepEqual(find(lost('abc|def|ghi'), [bytes('efghi')]), [109, 5])
  assert.deepEqual(find(lost('abc|def|ghi'), [bytes('x')]), [109, 1])
  assert.deepEqual(find(lost('abc|def|ghi'), [bytes('defxyz')]), [109, 6])
})

test('of several matching boundaries the oldest is used', () => {
  assert.deepEqual(find(lost('ab|ab|ab'), [bytes('ababab')]), [102, 6])
  assert.deepEqual(find(lost('xy|ab|ab'), [bytes('ab'), bytes('xy')]), [104, 4])
})

test('a possible boundary stays open until decide()', () => {
  const finder = createResumeMatcher(lost('x|abab|ab'))
  assert.equal(finder.write(bytes('ab')), undefined)
  assert.equal(finder.write(bytes('')), undefined)
  assert.equal(finder.decide(), 105)
  assert.deepEqual(find(lost('abc|def|ghi'), [bytes('defgh')]), [109, undefined])
  assert.deepEqual(find(lost('abc|def|ghi'), []), [109, undefined])
})

test('the matcher decides as early as possible', () => {
  const frames = [...'defghijkl'].map(bytes)
  assert.deepEqual(find(lost('abc|def|ghi'), frames), [103, 6])
  assert.deepEqual(find(lost('abc|def|ghi'), [...'dexx'].map(bytes)), [109, 3])
})

test('repeated zero bytes alone do not identify a resume position', () => {
  const stored = lost('ab|00|00')
  assert.deepEqual(find(stored, [bytes('0000')]), [106, 4])
  assert.deepEqual(find(lost('00|00|00'), [bytes('0')]), [106, 1])
  assert.deepEqual(find(lost('|0a|00|00'), [bytes('0000')]), [106, 4])
  assert.deepEqual(find(lost('00|01|00'), [bytes('0100')]), [102, 4])
  assert.deepEqual(find({ from: 5, stored: bytes(''), boundaries: [5] }, [bytes('a')]), [5, 1])
})

test('long silence at the end does not identify a resume position, with sound before it does', () => {
  const silence = '0'.repeat(10_000)
  assert.deepEqual(find(lost(`abc|def${silence}`), [bytes(`def${silence}x`)]), [103, 10_004])
  const [position] = find(lost(`abcdef|${silence}`), [bytes(`${silence}x`)])
  assert.equal(position, 100 + 6 + silence.length)
})

test('boundaries before the stored bytes are ignored', () => {
  const { stored } = lost('ab|cd')
  const result = find({ from: 100, stored, boundaries: [90, 98, 102] }, [bytes('cd')])
  assert.deepEqual(result, [102, 2])
})

/** From pure noise to highly repetitive audio. */
const sounds = fc.oneof(
  fc.uint8Array({ maxLength: 400 }),
  fc.array(fc.constantFrom(1, 2), { maxLength: 400 }).map((list) => Uint8Array.from(list)),
  fc
    .tuple(fc.uint8Array({ minLength: 1, maxLength: 6 }), fc.nat(400), fc.array(fc.nat(400)))
    .map(([period, length, breaks]) => {
      const audio = Uint8Array.from({ length }, (_, i) => period[i % period.length]!)
      for (const at of breaks) if (at < length) audio[at] = 255
      return audio
    }),
)

/** Cuts bytes at the given positions. */
function cut(whole: Uint8Array, places: readonly number[]): Uint8Array[] {
  const ends = [...places.map((place) => place % (whole.length + 1)), whole.length]
  ends.sort((a, b) => a - b)
  return ends.map((end, i) => whole.subarray(i === 0 ? 0 : ends[i - 1], end))
}

const places = fc.array(fc.nat(1000), { maxLength: 20 })

test('the matcher agrees with a slow reference and needs no extra bytes', () => {
  fc.assert(
    fc.property(sounds, sounds, places, places, fc.nat(), (audio, fresh, at, frames, seen) => {
      const from = 1000
      const ends = at.map((place) => from + (place % (audio.length + 1))).sort((a, b) => a - b)
      const boundaries = [...ends, from + audio.length]
      // The client resumes after an acknowledgment that it received, or after any byte at all.
      const known = seen % 3 === 0 ? seen % (audio.length + 1) : ends[seen % at.length]! - from
      const sent = Buffer.concat([audio.subarray(known || 0), fresh])
      const stored = { from, stored: audio, boundaries }
      const [position, taken] = find(stored, cut(sent, frames))
      assert.equal(position, findSlowly(stored, sent))
      if (taken === undefined) return
      for (const more of [fresh, audio]) {
        const longer = Buffer.concat([sent.subarray(0, taken), more])
        assert.equal(position, findSlowly(stored, longer), 'no later byte could change it')
      }
    }),
    { numRuns: rounds(750) },
  )
})

test('noise repeated after a lost acknowledgment is never stored twice', () => {
  const noise = fc.uint8Array({ minLength: 40, maxLength: 400 })
  fc.assert(
    fc.property(noise, noise, places, places, fc.nat(), (audio, fresh, at, frames, seen) => {
      const boundaries = [0, ...at.map((place) => place % (audio.length - 20)), audio.length]
      boundaries.sort((a, b) => a - b)
      const known = boundaries[seen % boundaries.length]!
      const sent = Buffer.concat([audio.subarray(known), fresh])
      const [position] = find({ from: 0, stored: audio, boundaries }, cut(sent, frames))
      const kept = Buffer.concat([audio, sent.subarray(audio.length - position)])
      assert.ok(kept.equals(Buffer.concat([audio, fresh])))
    }),
  )
})

test('matching periodic audio takes linear time', () => {
  const stored = Buffer.alloc(1_000_000)
  for (let i = 0; i < stored.length; i += 2) stored.writeInt16LE(i % 160, i)
  stored.fill(7, 999_900, 999_999)
  const boundaries = Array.from({ length: 6250 }, (_, i) => i * 160)
  const sent = Buffer.concat([stored.subarray(500_000, -1), Buffer.from([9])])
  const started = performance.now()
  const result = find({ from: 0, stored, boundaries }, cut(sent, [200_000, 400_000, 499_950]))
  assert.deepEqual(result, [stored.length, sent.length])
  const ms = performance.now() - started
  assert.ok(
    ms < 1000,
    `it took ${ms} ms; 20 are usual, and several seconds for every boundary apart`,
  )
})
