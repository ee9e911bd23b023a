import assert from 'node:assert/strict'
import test from 'node:test'
import { utteranceOf } from '../../../test/support/text/utterance-of.ts'
import type { UtteranceView } from '../../transcript/utterance-view.ts'
import { applyEdits } from './apply-edits.ts'
import { editTranscript, readEdits } from './edit-task.ts'
import type { EditOperation } from './plan-edits.ts'

const spoken = [
  utteranceOf('We sale the grave new bread', { speaker: 0 }),
  utteranceOf('Is it fresh', { start: 4, speaker: 1 }),
  utteranceOf('Of course it is', { start: 6, speaker: 2 }),
]

/** Applies each list of operations as a version of its own. */
function correct(utterances: UtteranceView[], ...versions: EditOperation[][]) {
  const result = JSON.stringify({ transcription: { utterances } })
  const stored: string[] = []
  for (const operations of versions) {
    const made = editTranscript({ result, stored, operations })
    assert.ok('changes' in made, JSON.stringify(made))
    stored.push(made.changes!)
  }
  const shown = editTranscript({ result, stored })
  assert.ok('effective' in shown)
  const edited = applyEdits(utterances, readEdits(utterances, stored).state)
  return { stored, edited, effective: JSON.parse(shown.effective) }
}

function refusalOf(operation: EditOperation, before: EditOperation[][] = []) {
  const { stored } = correct(spoken, ...before)
  const result = JSON.stringify({ transcription: { utterances: spoken } })
  const made = editTranscript({ result, stored, operations: [operation] })
  assert.ok('problem' in made)
  return made.problem
}

const first = { utterance: 0, expected: 'We sale the grave new bread' }

test('unchanged words keep their times, and new ones share those they replace', () => {
  const text = 'We sell the very brave new bread'
  const { edited } = correct(spoken, [{ op: 'replace_words', ...first, text }])
  const [one] = edited
  assert.equal(one!.text, text)
  assert.deepEqual(one!.words[0], { ...spoken[0]!.words[0]!, source: 0 })
  const times = { confidence: 1, edited: true }
  assert.deepEqual(one!.words[1], { word: ' sell', start: 0.5, end: 0.9, source: 1, ...times })
  assert.deepEqual(one!.words[3], { word: ' very', start: 1.5, end: 1.678, source: 3, ...times })
  assert.deepEqual(one!.words[4], { word: ' brave', start: 1.678, end: 1.9, source: 3, ...times })
  assert.deepEqual(one!.words[6], { ...spoken[0]!.words[5]!, source: 5 })
  assert.deepEqual(edited.slice(1), correct(spoken).edited.slice(1))
})

test('a later correction replaces earlier ones and may restore the original words', () => {
  const change = (text: string): EditOperation[] => [{ op: 'replace_words', ...first, text }]
  const { edited, effective } = correct(spoken, change('We sell bread'), change('We sale bread'))
  assert.equal(edited[0]!.text, 'We sale bread')
  assert.deepEqual(effective.words, [
    { utterance: 0, from: 2, to: 5, expected: 'the grave new', text: '' },
  ])
  const back = correct(spoken, change('Nothing alike'), change(first.expected))
  assert.deepEqual(back.edited, correct(spoken).edited)
  assert.deepEqual(back.effective.words, [])
})

test('an insertion shares the time of its neighbor and a short pause after it', () => {
  const brief = { ...utteranceOf('a b'), words: utteranceOf('a b').words.map(shorten) }
  const text = 'so a much more b'
  const { edited } = correct(
    [brief],
    [{ op: 'replace_words', utterance: 0, expected: 'a b', text }],
  )
  assert.equal(edited[0]!.text, text)
  const times = edited[0]!.words.map(({ start, end }) => [start, end])
  assert.deepEqual(times, [
    [0, 0.036],
    [0.036, 0.055],
    [0.055, 0.127],
    [0.127, 0.2],
    [0.5, 0.5],
  ])
})

function shorten<T extends { start: number }>(word: T) {
  return { ...word, end: word.start }
}

test('words of a live session keep the space before the first one', () => {
  const live = [utteranceOf('hello ther', { space: ' ' })]
  const { edited } = correct(live, [
    { op: 'replace_words', utterance: 0, from: 1, expected: 'ther', text: 'there' },
  ])
  assert.equal(edited[0]!.text, ' hello there')
})

test('in languages without spaces the words around a correction are kept', () => {
  const view = utteranceOf('今日 は 天気 が いい。', { language: 'ja' })
  assert.equal(view.text, '今日は天気がいい。')
  const { edited } = correct(
    [view],
    [{ op: 'replace_words', utterance: 0, expected: view.text, text: '今日は電気がいい。' }],
  )
  assert.equal(edited[0]!.text, '今日は電気がいい。')
  assert.deepEqual(
    edited[0]!.words.filter((word) => word.edited).map(({ word }) => word),
    ['電気'],
  )
})

test('a word that contains spaces stays one word', () => {
  const view = utteranceOf('about 10_000 people')
  view.words[1]!.word = ' 10 000'
  const text = 'about 10 000 persons'
  const { edited } = correct(
    [view],
    [{ op: 'replace_words', utterance: 0, expected: 'about 10 000 people', text }],
  )
  assert.deepEqual(
    edited[0]!.words.map(({ word }) => word),
    ['about', ' 10 000', ' persons'],
  )
})

test('an utterance can be deleted, split between speakers and reassigned', () => {
  const { edited } = correct(spoken, [
    { op: 'delete_words', utterance: 1, expected: 'Is it fresh' },
    { op: 'set_speaker', utterance: 0, from: 2, expected: 'the grave new bread', speaker: 7 },
    { op: 'set_speaker', utterance: 2, expected: 'Of course it is', speaker: 0 },
  ])
  const shown = edited.map(({ speaker, text, start, source }) => ({ speaker, text, start, source }))
  assert.deepEqual(shown, [
    { speaker: 0, text: 'We sale', start: 0, source: { utterance: 0, from: 0, to: 2 } },
    { speaker: 7, text: 'the grave new bread', start: 1, source: { utterance: 0, from: 2, to: 6 } },
    { speaker: 0, text: 'Of course it is', start: 6, source: { utterance: 2, from: 0, to: 4 } },
  ])
})

test('joined speakers become one and keep the name of either', () => {
  const give = { op: 'set_speaker', utterance: 1, from: 1, to: 2, expected: 'it' } as const
  const { edited, effective } = correct(
    spoken,
    [
      { op: 'name_speaker', speaker: 1, name: ' Ann\n Lee ' },
      { ...give, speaker: 2 },
    ],
    [{ op: 'join_speakers', speaker: 1, into: 2 }],
    [{ op: 'join_speakers', speaker: 2, into: 0 }],
  )
  assert.deepEqual(
    edited.map(({ speaker }) => speaker),
    [0, 0, 0],
  )
  assert.deepEqual(effective.names, [{ speaker: 0, name: 'Ann Lee' }])
  const joined = [...effective.joined].sort((a, b) => a.speaker - b.speaker)
  assert.deepEqual(joined, [
    { speaker: 1, into: 0 },
    { speaker: 2, into: 0 },
  ])
  const removed = correct(spoken, [
    { op: 'name_speaker', speaker: 0, name: 'Ann' },
    { op: 'name_speaker', speaker: 0, name: '' },
  ])
  assert.deepEqual(removed.effective.names, [])
})

test('an invalid operation is rejected by its number, without the words', () => {
  const replace = { op: 'replace_words', ...first, text: 'x' } as const
  const changed = refusalOf({ ...replace, expected: 'We sell' })
  assert.deepEqual(changed, {
    code: 'words_changed',
    detail: 'operations.0: the words there are not the expected ones',
  })
  const refusals: [EditOperation, RegExp, EditOperation[]?][] = [
    [{ ...replace, utterance: 3 }, /the transcript has no utterance 3/],
    [{ ...replace, to: 7 }, /utterance 0 has 6 words/],
    [{ ...replace, from: 2, to: 2 }, /the range holds no words/],
    [
      { ...replace, text: 'x '.repeat(3000) },
      /the text is too long for the time that these words take/,
    ],
    [{ op: 'join_speakers', speaker: 1, into: 1 }, /cannot be joined to itself/],
    [{ op: 'join_speakers', speaker: 1, into: 9 }, /the transcript has no speaker 9/],
    [{ op: 'name_speaker', speaker: 9, name: 'A' }, /the transcript has no speaker 9/],
    [{ op: 'name_speaker', channel: 9, name: 'A' }, /the transcript has no channel 9/],
    [
      { ...replace, from: 3, to: 5, expected: 'grave new' },
      /words 2 to 5 were corrected together/,
      [{ ...replace, from: 2, to: 5, expected: 'the grave new' }],
    ],
    [
      { op: 'set_speaker', utterance: 0, to: 3, expected: 'We sale the', speaker: 4 },
      /words 0 to 6 were corrected together/,
      [replace],
    ],
  ]
  for (const [operation, detail, before] of refusals) {
    const problem = refusalOf(operation, before && [before])
    assert.equal(problem.code, 'edit_refused')
    assert.match(problem.detail, detail)
  }
})

test('corrections of a changed transcript are rejected', () => {
  const { stored } = correct(spoken, [{ op: 'replace_words', ...first, text: 'x' }])
  const result = JSON.stringify({ transcription: { utterances: spoken.slice(1) } })
  const shown = editTranscript({ result, stored })
  assert.ok('effective' in shown)
  assert.deepEqual(JSON.parse(shown.effective), {
    words: [],
    speakers: [],
    joined: [],
    names: [],
    ignored: true,
  })
  const more = editTranscript({ result, stored, operations: [] })
  assert.equal('problem' in more && more.problem.code, 'words_changed')
})
