import assert from 'node:assert/strict'
import test from 'node:test'
import { RealtimeTurns } from './turn-events.ts'

const recognized = (text: string) => {
  const words = text.split(' ').map((word, i) => {
    return { word: `${i > 0 ? ' ' : ''}${word}`, start: i, end: i + 1, confidence: 1 }
  })
  return { text, words, language: 'en', start: 0, end: words.length }
}
const deltasOf = (events: { type: string }[]) => {
  return events.flatMap((event) => ('delta' in event ? [event.delta] : []))
}

test('a word is sent once two partials agree on it, and the rest with the transcript', () => {
  const turns = new RealtimeTurns({ version: 'ga', logprobs: false })
  turns.speechStarted(1)
  assert.deepEqual(deltasOf(turns.partial(recognized('good'))), [])
  assert.deepEqual(deltasOf(turns.partial(recognized('good morning'))), ['good'])
  assert.deepEqual(deltasOf(turns.partial(recognized('good mourning all'))), [])
  assert.deepEqual(deltasOf(turns.partial(recognized('good mourning all of'))), [' mourning all'])
  // The transcript differs from what was sent: no delta can mend that.
  const events = turns.final(recognized('Good morning, all of you.'))
  assert.deepEqual(deltasOf(events), [])
  assert.equal((events.at(-1) as { transcript?: string }).transcript, 'Good morning, all of you.')
  assert.equal('logprobs' in events.at(-1)!, false)
})

test('a turn that was split continues as a new item, which names the previous one', () => {
  const turns = new RealtimeTurns({ version: 'beta', logprobs: false })
  const [speechStarted] = turns.speechStarted(0)
  const [committed] = turns.final(recognized('one'))
  assert.equal(committed!.type, 'input_audio_buffer.committed')
  const [next, created] = turns.final(recognized('two'))
  assert.equal(next!.previous_item_id, speechStarted!.item_id)
  assert.equal(created!.type, 'conversation.item.created')
})

test('the tokens of log probabilities make up the transcript', () => {
  const turns = new RealtimeTurns({ version: 'ga', logprobs: true })
  const spaced = (text: string) => ({ ...recognized(text), text: ` ${text}` })
  const parts = [spaced('good morning'), spaced('all')].map((part) => {
    return { ...part, words: part.words.map((one) => ({ ...one, word: ` ${one.word.trim()}` })) }
  })
  type Completed = { transcript: string; logprobs: { token: string }[] }
  const completed = turns.committed(parts).at(-1) as unknown as Completed
  assert.equal(completed.transcript, 'good morning all')
  assert.equal(completed.logprobs.map(({ token }) => token).join(''), completed.transcript)
})

test('an utterance completes the turn in which it was spoken; earlier ones have no text', () => {
  const turns = new RealtimeTurns({ version: 'ga', logprobs: false })
  const spoken = (text: string, start: number) => ({ ...recognized(text), start, end: start + 1 })
  const speak = (from: number, to: number) => {
    const [speechStarted] = turns.speechStarted(from)
    turns.speechStopped(to)
    return speechStarted!.item_id
  }
  const ids = [speak(1, 2), speak(3, 3.2), turns.speechStarted(5)[0]!.item_id]
  turns.partial(spoken('bye', 5))
  const [delta] = turns.partial(spoken('bye bye', 5))
  assert.deepEqual([delta!.item_id, delta!.delta], [ids[2], 'bye'])
  const completedIn = (events: ReturnType<typeof turns.final>) => {
    const completed = events.filter(({ type }) => type.endsWith('.completed'))
    return completed.map((event) => [event.item_id, event.transcript])
  }
  assert.deepEqual(completedIn(turns.final(spoken('hello', 0.95))), [[ids[0], 'hello']])
  turns.speechStopped(6)
  assert.deepEqual(completedIn(turns.final(spoken('bye bye', 5))), [
    [ids[1], ''],
    [ids[2], 'bye bye'],
  ])
  const last = speak(8, 8.1)
  assert.deepEqual(completedIn(turns.ended({ isCommitted: true })), [[last, '']])
})

test('a session without speech that the client ends is one turn', () => {
  const turns = new RealtimeTurns({ version: 'ga', logprobs: false })
  const [committed] = turns.ended({ isCommitted: true })
  assert.equal(committed!.type, 'input_audio_buffer.committed')
  const [next] = turns.ended({ isCommitted: true })
  assert.equal(next!.previous_item_id, committed!.item_id)
  turns.speechStarted(1)
  turns.final({ ...recognized('hello'), start: 1, end: 2 })
  assert.deepEqual(turns.ended({ isCommitted: true }), [])
})

test('a turn that the client ends has deltas while it lasts, over the pauses within it', () => {
  const turns = new RealtimeTurns({ version: 'ga', logprobs: false })
  const [first, second] = [recognized('good morning'), recognized('all of you')]
  turns.partial(first, [])
  assert.deepEqual(deltasOf(turns.partial(first, [])), ['good morning'])
  assert.deepEqual(deltasOf(turns.spoken([first])), [])
  assert.deepEqual(deltasOf(turns.partial(second, [first])), [])
  assert.deepEqual(deltasOf(turns.partial(recognized('all'), [first])), [' all'])
  assert.deepEqual(deltasOf(turns.spoken([first, second])), [' of you'])
  const events = turns.committed([first, second])
  assert.deepEqual(deltasOf(events), [])
  assert.equal(events.at(-1)!.transcript, 'good morning all of you')
  turns.partial(first, [])
  turns.partial(first, [])
  turns.discarded()
  assert.deepEqual(deltasOf(turns.committed([second])), ['all of you'])
})
