import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { rounds } from '../../../test/support/random/rounds.ts'
import { buildTranscript, linesOf } from '../../../test/support/text/build-transcript.ts'
import type { Transcript } from '../../transcript/transcript.ts'
import { documentsOf } from '../entities/document.ts'
import { findEntities } from '../entities/find-entities.ts'
import { markers } from './markers/markers.ts'
import type { Style } from './masks/masked-spans.ts'
import { type PiiRedactionConfig, redact } from './redaction.ts'

const word = fc.constantFrom(
  ...['my', 'name', 'is', 'number', 'card', 'password', 'Will', 'May', 'and', 'um,', 'call', 'in'],
  ...['(John),', 'Lena.', "Smith's", 'Dr.', 'Anna', 'London', 'Monday', 'four', 'two', 'double'],
  ...['4242', '4242.', '415-555-0199', 'john@example.com', 'at', 'dot', 'com', '[NAME_1]', '####'],
  ...[
    'José',
    'Jose\u0301',
    '👩‍👩‍👧',
    '—',
    '...',
    '$5',
    'percent',
    'social',
    'born',
    '1990',
    'x/Anna/y',
  ],
)
const line = fc
  .tuple(
    fc.constantFrom('', '1: ', '0/0: ', '0/1: '),
    fc.array(word, { minLength: 1, maxLength: 9 }),
  )
  .map(([speaker, words]) => speaker + words.join(' '))
const withWords = fc.array(line, { minLength: 1, maxLength: 6 })
const config: fc.Arbitrary<PiiRedactionConfig> = fc.record(
  {
    processed_text_type: fc.constantFrom<Style>('MARKER', 'MASK'),
    entity_types: fc.constantFrom('NAME', 'PCI', 'GDPR', ['NAME_GIVEN', 'PHONE_NUMBER'], []),
  },
  { requiredKeys: ['processed_text_type'] },
)

type Property = (lines: string[], config: PiiRedactionConfig) => void

function check(property: Property): void {
  checkWith([], property)
}

function checkWith(examples: [string[], PiiRedactionConfig][], property: Property): void {
  fc.assert(fc.property(withWords, config, property), { numRuns: rounds(30), examples })
}

test('redacted words ascend without overlap, and no utterance is empty', () => {
  check((lines, config) => {
    for (const { words } of redact(buildTranscript(...lines), config).transcript.utterances) {
      assert.ok(words.length > 0)
      for (const [i, { start, end, text }] of words.entries()) {
        assert.ok(start <= end && text !== '')
        assert.ok(i === 0 || words[i - 1]!.end <= start)
      }
    }
  })
})

test('masking keeps the words and their times', () => {
  check((lines, config) => {
    const before = buildTranscript(...lines)
    const { transcript } = redact(before, { ...config, processed_text_type: 'MASK' })
    const bare = ({ utterances }: Transcript) => {
      return utterances.map(({ words }) => words.map(({ text: _, ...times }) => times))
    }
    assert.deepEqual(bare(transcript), bare(before))
  })
})

test('redacting twice changes nothing more', () => {
  check((lines, config) => {
    const { transcript } = redact(buildTranscript(...lines), config)
    const again = redact(transcript, config)
    assert.deepEqual(linesOf(again.transcript), linesOf(transcript))
    assert.deepEqual(again.redacted, [])
  })
})

/** Found by chance: the label of the marker was a question that the other channel answered. */
const labelAsQuestion: [string[], PiiRedactionConfig] = [
  ['1: number john@example.com my', 'Dr. my', 'my'],
  { processed_text_type: 'MARKER' },
]

test('no entity is found in a redacted transcript', () => {
  const examples = [labelAsQuestion]
  checkWith(examples, (lines, { processed_text_type = 'MARKER' }) => {
    const { transcript } = redact(buildTranscript(...lines), { processed_text_type })
    for (const document of documentsOf(transcript)) {
      const text = document.text.replace(markers(), (marker) => '#'.repeat(marker.length))
      const left = findEntities({ ...document, text }).map(({ from, to }) => text.slice(from, to))
      assert.deepEqual(
        left.filter((phrase) => !phrase.includes('#')),
        [],
      )
    }
  })
})

test('every silenced span matches spoken words', () => {
  check((lines, config) => {
    const before = buildTranscript(...lines)
    for (const { channel, start, end } of redact(before, config).redacted) {
      const ofChannel = before.utterances.filter((one) => one.channel === channel)
      const words = ofChannel.flatMap(({ words }) => words)
      assert.ok(
        words.some((word) => word.start === start) && words.some((word) => word.end === end),
      )
    }
  })
})
