import assert from 'node:assert/strict'
import { test } from 'node:test'
import { speakerLabelsOf } from './speaker-labels.ts'

const one = { channel: 0, speaker: 0 }
const other = { channel: 0, speaker: 1 }
const nobody = { channel: 0 }

test('speakers and channels have labels where there are several', () => {
  const labels = (all: { channel: number; speaker?: number }[]) => all.map(speakerLabelsOf(all))
  assert.deepEqual(labels([one, one]), [undefined, undefined])
  assert.deepEqual(labels([nobody, nobody]), [undefined, undefined])
  assert.deepEqual(labels([one, other]), ['Speaker 1', 'Speaker 2'])
  assert.deepEqual(labels([nobody, { channel: 1 }]), ['Channel 1', 'Channel 2'])
})

test('a speaker and the rest of a channel have labels, with and without names', () => {
  const all = [one, nobody]
  assert.deepEqual(all.map(speakerLabelsOf(all)), ['Speaker 1', 'Channel 1'])
  const names = { speakerNames: new Map(), channelNames: new Map([[0, 'Ann']]) }
  assert.deepEqual(all.map(speakerLabelsOf(all, names)), ['Speaker 1', 'Ann'])
})
