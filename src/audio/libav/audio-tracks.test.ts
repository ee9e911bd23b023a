import assert from 'node:assert/strict'
import { test } from 'node:test'
import { pickTracks } from './audio-tracks.ts'
import type { Track } from './media-input.ts'

const audio: Omit<Track, 'index'> = {
  kind: 'audio',
  codec: 'aac',
  isDecodable: true,
  sampleRate: 48_000,
  channels: 1,
  isDefault: false,
  isAccompanying: false,
  isPicture: false,
  language: undefined,
  start: 0,
  duration: 10,
}

/** Returns the places of the tracks that are read. */
function pick(...tracks: Partial<Track>[]) {
  const { read, total } = pickTracks(tracks.map((track, index) => ({ ...audio, ...track, index })))
  return { read: read.map(({ index }) => index), total }
}

test('tracks of one channel are read together, beside pictures', () => {
  assert.deepEqual(pick({ kind: 'video' }, {}, {}, {}), { read: [1, 2, 3], total: 3 })
})

test('of tracks with several channels the first one is read', () => {
  assert.deepEqual(pick({ channels: 2 }, { channels: 2 }), { read: [0], total: 2 })
  assert.deepEqual(pick({ channels: 2 }, {}), { read: [0], total: 2 })
  assert.deepEqual(pick({}, { channels: 2 }, {}), { read: [0, 2], total: 3 })
})

test('only tracks that are marked as default are read, if there are any', () => {
  assert.deepEqual(pick({}, { isDefault: true }, {}), { read: [1], total: 3 })
  const marked = pick({ isDefault: true }, {}, { isDefault: true })
  assert.deepEqual(marked, { read: [0, 2], total: 3 })
})

test('a track for people who see badly is read only if there is no other', () => {
  const described = { isAccompanying: true, channels: 2 }
  assert.deepEqual(pick(described, { channels: 2 }), { read: [1], total: 2 })
  assert.deepEqual(pick(described, described), { read: [0], total: 2 })
})

test('versions of the first track are not read: languages, comments, other rates', () => {
  assert.deepEqual(pick({ language: 'eng' }, { language: 'ger' }), { read: [0], total: 2 })
  assert.deepEqual(pick({ language: 'und' }, {}), { read: [0, 1], total: 2 })
  assert.deepEqual(pick({}, { isAccompanying: true }), { read: [0], total: 2 })
  assert.deepEqual(pick({}, { sampleRate: 44_100 }), { read: [0], total: 2 })
})

test('tracks without a decoder are read only if there are no others', () => {
  // The videos of new iPhones have a second track with a codec of Apple's own.
  assert.deepEqual(pick({}, { isDecodable: false }), { read: [0], total: 1 })
  assert.deepEqual(pick({ isDecodable: false }, {}), { read: [1], total: 1 })
  assert.deepEqual(pick({ isDecodable: false }), { read: [0], total: 1 })
})

test('at most sixteen tracks are read', () => {
  const { read, total } = pick(...Array.from({ length: 20 }, () => ({})))
  assert.deepEqual([read.length, total], [16, 20])
})

test('a file without an audio track is rejected', () => {
  assert.throws(() => pick({ kind: 'video' }), { code: 'media_without_audio' })
})
