import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import test, { type TestContext } from 'node:test'
import { openTestStorage } from '../../../test/support/storage/test-storage.ts'
import type { RedactedSpan } from '../../text/redaction/redacted-spans.ts'
import { storeRedactedAudio, wantsRedactedAudio } from './redacted-audio.ts'

const account = 'acme'
const SECONDS = 4
const { signal } = new AbortController()

/**
 * Stores the redacted audio of channels that hold one constant value each. Returns where each
 * channel changed, in seconds.
 */
async function changes(
  t: TestContext,
  redacted: readonly RedactedSpan[],
  {
    sameAs = [null],
    sourceChannels,
  }: { sameAs?: readonly (number | null)[]; sourceChannels?: number[] } = {},
): Promise<string[]> {
  const storage = await openTestStorage(t)
  const { db, folder } = storage
  const samples = SECONDS * 16_000
  const channels = []
  for (const [channel, same] of sameAs.entries()) {
    const path = join(folder, `ch${channel}.pcm`)
    await writeFile(path, new Int16Array(samples).fill(5000 + channel))
    channels.push({ channel, path, samples, sameAs: same })
  }
  const recognized = channels.flatMap(({ channel, sameAs }) => {
    return sameAs === null ? [{ channel, sourceChannels: sourceChannels ?? [channel] }] : []
  })
  const { object, size } = await storeRedactedAudio(storage, channels, {
    redacted,
    recognized,
    signal,
    account,
  })
  const wave = new Uint8Array(await buffer((await db.objects.read(object)).body))
  assert.equal(wave.length, size)
  const recording = new Int16Array(wave.slice(44).buffer)
  return channels.map(({ channel }) => {
    const plane = recording.filter((_, n) => n % channels.length === channel)
    assert.equal(plane.length, samples)
    return mergeSpans(plane)
  })
}

/** Finds where samples changed; the tone never comes near the original values. */
function mergeSpans(samples: Int16Array): string {
  const borders: number[] = []
  for (const [i, sample] of samples.entries()) {
    const isInside = borders.length % 2 === 1
    if (sample < 5000 !== isInside) borders.push(i / 16_000)
  }
  if (borders.length % 2 === 1) borders.push(SECONDS)
  return borders.map((border, i) => `${border}${i % 2 === 0 ? '-' : ' '}`).join('')
}

test('a redacted span is silenced with 0.2 s before and after', async (t) => {
  assert.deepEqual(await changes(t, [{ channel: 0, start: 1, end: 1.5 }]), ['0.8-1.7 '])
})

test('spans with overlapping margins are merged, in any order', async (t) => {
  const spans = [
    { channel: 0, start: 3, end: 3.25 },
    { channel: 0, start: 1.5, end: 1.75 },
    { channel: 0, start: 0.5, end: 1.25 },
    { channel: 0, start: 0.75, end: 1 },
  ]
  assert.deepEqual(await changes(t, spans), ['0.3-1.95 2.8-3.45 '])
})

test('silencing is limited to the recording', async (t) => {
  const spans = [
    { channel: 0, start: 0, end: 0.25 },
    { channel: 0, start: 3.9, end: 4 },
  ]
  assert.deepEqual(await changes(t, spans), ['0-0.45 3.7-4 '])
})

test('a span is silenced on its channel and on all duplicates of it', async (t) => {
  const spans = [
    { channel: 0, start: 1, end: 2 },
    { channel: 2, start: 3, end: 3.5 },
  ]
  const silenced = await changes(t, spans, { sameAs: [null, 0, null, 1] })
  assert.deepEqual(silenced, ['0.8-2.2 ', '0.8-2.2 ', '2.8-3.7 ', '0.8-2.2 '])
})

test('a span is silenced on every source channel of its speech', async (t) => {
  const span = { channel: 0, start: 1, end: 2 }
  const silenced = await changes(t, [span], { sameAs: [null, null, null], sourceChannels: [0, 2] })
  assert.deepEqual(silenced, ['0.8-2.2 ', '', '0.8-2.2 '])
})

test('a span of an unrecognized channel or without an end is an error', async (t) => {
  const sameAs = [null, 0]
  for (const span of [
    { channel: 1, start: 1, end: 2 },
    { channel: 0, start: 1, end: Number.NaN },
  ]) {
    await assert.rejects(changes(t, [span], { sameAs }), RangeError)
  }
})

test('an aborted redaction stores nothing', async (t) => {
  const storage = await openTestStorage(t)
  const { db, folder } = storage
  const path = join(folder, 'ch0.pcm')
  await writeFile(path, new Int16Array(64_000))
  const channels = [{ channel: 0, path, samples: 64_000, sameAs: null }]
  const signal = AbortSignal.abort(new Error('enough'))
  const redaction = { redacted: [], recognized: [], signal, account }
  await assert.rejects(storeRedactedAudio(storage, channels, redaction), /enough/)
  assert.deepEqual(await Array.fromAsync(db.objects.list()), [])
})

test('audio is redacted only if text redaction is enabled', () => {
  const pii_redaction_config = { audio: true }
  assert.equal(wantsRedactedAudio({ pii_redaction: true, pii_redaction_config }), true)
  assert.equal(wantsRedactedAudio({ pii_redaction: false, pii_redaction_config }), false)
  assert.equal(wantsRedactedAudio({ pii_redaction: true, pii_redaction_config: {} }), false)
  assert.equal(wantsRedactedAudio({ pii_redaction: true }), false)
})
