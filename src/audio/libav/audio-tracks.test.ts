import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  AV_CODEC_ID_AAC,
  AV_CODEC_ID_NONE,
  AV_DISPOSITION_COMMENT,
  AV_DISPOSITION_DEFAULT,
  AV_DISPOSITION_VISUAL_IMPAIRED,
  AVMEDIA_TYPE_AUDIO,
  AVMEDIA_TYPE_VIDEO,
} from 'node-av/constants'
import { Dictionary, type Stream } from 'node-av/lib'
import { pickTracks } from './audio-tracks.ts'

type Track = {
  codecId?: number
  type?: number
  channels?: number
  rate?: number
  marks?: number[]
  language?: string
}

/** Returns the places of the tracks that are read. */
function pick(...tracks: Track[]) {
  const streams = tracks.map((track, index) => streamOf(track, index))
  const { read, total } = pickTracks(streams)
  return { read: read.map(({ index }) => index), total }
}

function streamOf(
  { codecId, type, channels, rate, marks = [], language }: Track,
  index: number,
): Stream {
  const codecpar = {
    codecId: codecId ?? AV_CODEC_ID_AAC,
    codecType: type ?? AVMEDIA_TYPE_AUDIO,
    channels: channels ?? 1,
    sampleRate: rate ?? 48_000,
  }
  const metadata = language === undefined ? null : Dictionary.fromObject({ language })
  const hasDisposition = (...flags: number[]) => flags.every((flag) => marks.includes(flag))
  return { index, codecpar, metadata, hasDisposition } as unknown as Stream
}

const isDefault = [AV_DISPOSITION_DEFAULT]

test('tracks of one channel are read together, beside pictures', () => {
  assert.deepEqual(pick({ type: AVMEDIA_TYPE_VIDEO }, {}, {}, {}), { read: [1, 2, 3], total: 3 })
})

test('of tracks with several channels the first one is read', () => {
  assert.deepEqual(pick({ channels: 2 }, { channels: 2 }), { read: [0], total: 2 })
  assert.deepEqual(pick({ channels: 2 }, {}), { read: [0], total: 2 })
  assert.deepEqual(pick({}, { channels: 2 }, {}), { read: [0, 2], total: 3 })
})

test('only tracks that are marked as default are read, if there are any', () => {
  assert.deepEqual(pick({}, { marks: isDefault }, {}), { read: [1], total: 3 })
  const marked = pick({ marks: isDefault }, {}, { marks: isDefault })
  assert.deepEqual(marked, { read: [0, 2], total: 3 })
})

test('a track for people who see badly is read only if there is no other', () => {
  const described = { marks: [AV_DISPOSITION_VISUAL_IMPAIRED], channels: 2 }
  assert.deepEqual(pick(described, { channels: 2 }), { read: [1], total: 2 })
  assert.deepEqual(pick(described, described), { read: [0], total: 2 })
})

test('versions of the first track are not read: languages, comments, other rates', () => {
  assert.deepEqual(pick({ language: 'eng' }, { language: 'ger' }), { read: [0], total: 2 })
  assert.deepEqual(pick({ language: 'und' }, {}), { read: [0, 1], total: 2 })
  assert.deepEqual(pick({}, { marks: [AV_DISPOSITION_COMMENT] }), { read: [0], total: 2 })
  assert.deepEqual(pick({}, { rate: 44_100 }), { read: [0], total: 2 })
})

test('tracks without a decoder are read only if there are no others', () => {
  // The videos of new iPhones have a second track with a codec of Apple's own.
  assert.deepEqual(pick({}, { codecId: AV_CODEC_ID_NONE }), { read: [0], total: 1 })
  assert.deepEqual(pick({ codecId: AV_CODEC_ID_NONE }, {}), { read: [1], total: 1 })
  assert.deepEqual(pick({ codecId: AV_CODEC_ID_NONE }), { read: [0], total: 1 })
})

test('at most sixteen tracks are read', () => {
  const { read, total } = pick(...Array.from({ length: 20 }, () => ({})))
  assert.deepEqual([read.length, total], [16, 20])
})

test('a file without an audio track is rejected', () => {
  assert.throws(() => pick({ type: AVMEDIA_TYPE_VIDEO }), { code: 'media_without_audio' })
})
