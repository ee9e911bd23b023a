import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { rounds } from '../../../test/support/random/rounds.ts'
import type { UtteranceView } from '../../transcript/utterance-view.ts'
import { applyEdits, type EditedUtterance } from './apply-edits.ts'
import { createEditState } from './edit-state.ts'
import { editTranscript, readEdits } from './edit-task.ts'
import { textOfRange } from './machine-words.ts'
import type { EditOperation } from './plan-edits.ts'

const token = fc.constantFrom('a', 'b', 'word', 'Straße', '10', '今日', 'は', '👩‍👩‍👧', 'x.')

/** Times in milliseconds: some words last none, and follow each other at once. */
const utterance = fc.record({
  words: fc.array(fc.tuple(token, fc.nat(40), fc.nat(30)), { minLength: 1, maxLength: 9 }),
  language: fc.constantFrom('en', 'ja'),
  speaker: fc.option(fc.nat(2), { nil: undefined }),
  channel: fc.nat(1),
})

const range = { at: fc.nat(5), from: fc.nat(9), length: fc.integer({ min: 1, max: 9 }) }
const step = fc.oneof(
  fc.record({
    ...range,
    op: fc.constant('replace_words'),
    text: fc.array(token, { maxLength: 8 }),
  }),
  fc.record({ ...range, op: fc.constant('set_speaker'), speaker: fc.nat(3) }),
  fc.record({ op: fc.constant('join_speakers'), speaker: fc.nat(3), into: fc.nat(3) }),
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

/** Utterances as results hold them: by their start, those that start at once by channel. */
function view(
  given: (typeof utterance extends fc.Arbitrary<infer T> ? T : never)[],
): UtteranceView[] {
  let clock = 0
  const utterances = given.map(({ words: parts, speaker, ...rest }) => {
    const space = rest.language === 'en' ? ' ' : ''
    const words = parts.map(([text, length, pause], i) => {
      const start = clock + pause
      clock = start + length
      const word = i === 0 ? text : space + text
      return { word, start: start / 1000, end: clock / 1000, confidence: 0.5 }
    })
    const times = { start: words[0]!.start, end: words.at(-1)!.end, confidence: 0.5 }
    const text = words.map(({ word }) => word).join('')
    return { ...times, ...rest, ...(speaker !== undefined && { speaker }), words, text }
  })
  return utterances.sort((a, b) => a.start - b.start || a.channel - b.channel)
}

function operationOf(step: Step, utterances: readonly UtteranceView[]): EditOperation {
  if (!('at' in step)) return step as EditOperation
  const { at, length, ...rest } = step
  const utterance = at % utterances.length
  const edited = utterances[utterance]!
  const from = step.from % edited.words.length
  const to = Math.min(edited.words.length, from + length)
  const place = { utterance, from, to, expected: textOfRange(edited, { from, to }) }
  const space = edited.language === 'en' ? ' ' : ''
  return {
    ...rest,
    ...place,
    ...('text' in rest && { text: rest.text.join(space) }),
  } as EditOperation
}

function bare(word: string): string {
  return word.trim()
}

test('for any corrections times ascend, words have a duration and no other word is lost', () => {
  fc.assert(
    fc.property(
      fc.array(utterance, { minLength: 1, maxLength: 4 }),
      fc.array(step, { maxLength: 8 }),
      (given, steps) => {
        const utterances = view(given)
        const before = structuredClone(utterances)
        const result = JSON.stringify({ transcription: { utterances } })
        const stored: string[] = []
        const kept = utterances.map(({ words }) => words.map(() => true))
        for (const step of steps) {
          const operation = operationOf(step, utterances)
          const made = editTranscript({ result, stored, operations: [operation] })
          if ('problem' in made) continue
          stored.push(made.changes!)
          if (operation.op !== 'replace_words') continue
          const { utterance, from, to, text } = operation
          kept[utterance]!.fill(false, from, to)
          // Right after it was made, the range reads as it was asked for.
          const now = applyEdits(utterances, readEdits(utterances, stored).state)
          const words = wordsIn(now, { utterance, from: from!, to: to! })
          const space = utterances[utterance]!.language === 'en' ? ' ' : ''
          assert.equal(words.map(({ word }) => bare(word)).join(space), text)
        }
        const { state } = readEdits(utterances, stored)
        const edited = applyEdits(utterances, state)
        checkTimes(edited)
        for (const [utterance, { words }] of utterances.entries()) {
          for (const [i, word] of words.entries()) {
            if (!kept[utterance]![i]) continue
            const [found, ...more] = wordsIn(edited, { utterance, from: i, to: i + 1 })
            assert.equal(more.length, 0)
            assert.deepEqual(
              { ...found, word: bare(found!.word) },
              {
                ...word,
                word: bare(word.word),
                source: i,
              },
            )
          }
        }
        assert.deepEqual(utterances, before)
      },
    ),
    { numRuns: rounds(50) },
  )
})

function wordsIn(
  edited: readonly EditedUtterance[],
  { utterance, from, to }: { utterance: number; from: number; to: number },
) {
  return edited
    .filter(({ source }) => source.utterance === utterance)
    .flatMap(({ words }) => words)
    .filter(({ source }) => from <= source && source < to)
}

function checkTimes(edited: readonly EditedUtterance[]): void {
  for (const { start, end, words } of edited) {
    assert.ok(words.length > 0)
    assert.deepEqual([start, end], [words[0]!.start, words.at(-1)!.end])
    for (const [i, word] of words.entries()) {
      assert.ok(i === 0 || word.start >= words[i - 1]!.end, 'words ascend')
      assert.ok(word.edited ? word.end > word.start : word.end >= word.start)
    }
  }
}

test('without corrections the transcript is unchanged', () => {
  fc.assert(
    fc.property(fc.array(utterance, { maxLength: 4 }), (given) => {
      const utterances = view(given)
      const same = applyEdits(utterances, createEditState()).map(({ source: _, ...rest }) => ({
        ...rest,
        words: rest.words.map(({ source: _, ...word }) => word),
      }))
      assert.deepEqual(same, utterances)
    }),
  )
})
