import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import type { Transcript } from '../../transcript/transcript.ts'
import { type SummaryType, summarize } from './summarization.ts'

/** Creates one utterance for each line, a word every half second, two speakers in turn. */
function transcriptOf(text: string, { language = 'en', separator = ' ' } = {}): Transcript {
  let clock = 0
  const lines = text.trim().split('\n')
  const utterances = lines.map((line, speaker) => {
    const words = line.split(separator).map((word) => {
      clock += 0.5
      return { text: word, start: clock - 0.5, end: clock - 0.1, confidence: 0.9 }
    })
    return { channel: 0, language, speaker: speaker % 2, words }
  })
  return { utterances }
}

const meeting = `
Good morning everybody, welcome to the weekly planning meeting of the warehouse team.
Thanks for having me, it is nice to be here in person again.
Let us start with the new warehouse in Leipzig.
The roof of the warehouse in Leipzig has been leaking since the storm in March.
Do we know what the repair of the roof will cost?
The repair of the warehouse roof will cost forty thousand euros, and the insurance covers half of it.
We decided that the roof of the warehouse must be repaired before the first of October.
Anyway, I had a sandwich.
The second topic is the delivery software that keeps losing customer orders.
The developers found out that the delivery software loses orders when two drivers scan the same parcel.
They will ship a new version of the delivery software on Thursday.
Until then, drivers must scan each parcel only once.
Finally, the budget for next year.
The budget for next year grows by ten percent because of the new warehouse and the delivery software.
Is there anything else you would like to talk about?
No, that is all from my side, thank you very much for your time today.
Goodbye everybody, see you next week at the same time.`

const sentencesOfMeeting = meeting.trim().split('\n')

test('summarize general returns up to six original sentences in order', () => {
  const summary = summarize(transcriptOf(meeting))
  const taken = sentencesOfMeeting.filter((sentence) => summary.includes(sentence))
  assert.equal(taken.join(' '), summary)
  assert.equal(taken.length, 6)
})

test('summarize keeps decisions and omits greetings, farewells and questions', () => {
  const summary = summarize(transcriptOf(meeting))
  assert.match(summary, /We decided that the roof/)
  assert.match(summary, /delivery software/)
  assert.match(summary, /budget for next year grows/)
  assert.doesNotMatch(summary, /morning|nice to be here|Goodbye|your time today|\?|sandwich/)
})

test('summarize omits dictated numbers and spelled names', () => {
  const call = `
Good morning, this is the bank, how can I help you today?
My card was refused at the supermarket in Leipzig yesterday evening.
What is your account number, please?
It's one two three four five six seven eight nine.
It's 1 2 3 4 5 6 7 8 9, and the other account is 4 5 6 7 8 1 2 3.
My name is spelled S M Y T H E and then B R A I T H.
Your phone number, is it five five five one two three four?
The card was blocked because somebody tried a wrong code three times.
We will send a new card to your address in Leipzig this week.`
  const summary = summarize(transcriptOf(call))
  assert.match(summary, /card was refused|card was blocked/)
  assert.match(summary, /send a new card/)
  assert.doesNotMatch(summary, /two three|1 2 3|S M Y/)
})

test('summarize bullet_points lists the sentences of general', () => {
  const transcript = transcriptOf(meeting)
  const lines = summarize(transcript, 'bullet_points').split('\n')
  assert.ok(lines.every((line) => line.startsWith('- ')))
  assert.equal(lines.map((line) => line.slice(2)).join(' '), summarize(transcript, 'general'))
})

test('summarize concise returns one sentence of a short talk and two of a longer one', () => {
  const countTaken = (lines: string[]) => {
    const summary = summarize(transcriptOf(lines.join('\n')), 'concise')
    return lines.filter((line) => summary.includes(line)).length
  }
  assert.equal(countTaken(sentencesOfMeeting), 2)
  assert.equal(countTaken(sentencesOfMeeting.slice(2, 9)), 1)
})

test('summarize omits near-duplicate sentences', () => {
  const roof = 'The roof of the warehouse in Leipzig must be repaired before October'
  const talk = [
    `${roof}.`,
    `So ${roof}.`,
    `Yes, ${roof}.`,
    'The drivers of the night shift want longer breaks in winter.',
    'Parking space behind the office becomes a garden.',
    'The canteen offers vegetarian food on Mondays.',
  ]
  const summary = summarize(transcriptOf(talk.join('\n')))
  assert.equal(summary.split('repaired').length, 2)
})

test('summarize omits greetings even if little is left', () => {
  const talk = [
    'Good morning, welcome to the weekly planning meeting of the warehouse team.',
    'Yes.',
    'No.',
    'The warehouse roof leaks since the winter storm.',
  ]
  assert.equal(summarize(transcriptOf(talk.join('\n'))), talk[3])
})

test('summarize prefers a new topic over more of the same', () => {
  const talk = [
    'The roof of the big warehouse in Leipzig must be repaired before October.',
    'The roof of the big warehouse in Leipzig lies near the old river.',
    'Drivers of the night shift demand longer breaks.',
    'Longer breaks annoy drivers of the day shift.',
    'Okay.',
  ]
  const summary = summarize(transcriptOf(talk.join('\n')))
  assert.ok(summary.startsWith(talk[0]!))
  assert.match(summary, /breaks/)
})

test('summarize returns a repeated sentence once', () => {
  const roof = 'The roof of the warehouse in Leipzig must be repaired.'
  assert.equal(summarize(transcriptOf(`${roof}\n`.repeat(40))), roof)
})

test('summarize returns a talk of three sentences unchanged', () => {
  const talk = 'Hello, this is Ann.\nThe train is late.\nGoodbye.'
  assert.equal(summarize(transcriptOf(talk), 'concise'), talk.replaceAll('\n', ' '))
})

test('summarize of small talk returns its longest sentence', () => {
  assert.equal(summarize(transcriptOf('Hi.\nYes.\nOkay then.\nNo.\nRight.')), 'Okay then.')
})

test('summarize of a transcript without speech is empty', () => {
  assert.equal(summarize({ utterances: [] }), '')
})

test('summarize joins sentences of languages without spaces without spaces', () => {
  const talk = '倉庫の屋根が壊れました。\n修理は来週です。'
  assert.equal(
    summarize(transcriptOf(talk, { language: 'ja', separator: '。。' })),
    talk.replace('\n', ''),
  )
})

test('summarize finds the topic of a German talk without a stop word list', () => {
  const talk = `
Guten Tag zusammen und herzlich willkommen in der Runde.
Das Dach der Lagerhalle in Leipzig ist seit dem Sturm undicht.
Gestern gab es in der Kantine Nudeln.
Die Reparatur vom Dach der Lagerhalle in Leipzig kostet vierzigtausend Euro.
Mein Nachbar fährt gern Fahrrad.
Wir reparieren das Dach der Lagerhalle vor Oktober.`
  assert.match(summarize(transcriptOf(talk, { language: 'de' }), 'concise'), /Dach der Lagerhalle/)
})

test('a summary is never longer than the transcript and contains only its words', () => {
  const word = fc.constantFrom('roof', 'roof.', 'Budget', 'hi', 'is?', 'ten.', '…', 'so,', 'orders')
  const lines = fc.array(fc.array(word, { minLength: 1, maxLength: 9 }), { maxLength: 30 })
  const type = fc.constantFrom<SummaryType>('general', 'bullet_points', 'concise')
  fc.assert(
    fc.property(lines, type, (talk, style) => {
      const text = talk.map((words) => words.join(' ')).join('\n')
      const transcript = text === '' ? { utterances: [] } : transcriptOf(text)
      const summary = summarize(transcript, style)
      assert.equal(summarize(transcript, style), summary)
      const prose = style === 'bullet_points' ? summary.replaceAll(/^- /gm, '') : summary
      assert.ok(prose.length <= text.length)
      assert.equal(prose === '', text === '')
      // A comma at the end of a part goes.
      const spoken = [...text.split(/\s/), ...text.split(/,?\s|,$/)]
      assert.ok(prose.split(/\s/).every((each) => spoken.includes(each)))
    }),
  )
})

test('whole sentences are preferred over fragments, and a final comma is removed', () => {
  const transcript = transcriptOf('The repair of the roof in Leipzig was late,')
  assert.equal(summarize(transcript), 'The repair of the roof in Leipzig was late')
  assert.equal(
    summarize(transcript, 'bullet_points'),
    '- The repair of the roof in Leipzig was late',
  )
  const [part, whole] = [
    'the leaking roof of the old warehouse in Leipzig needs a repair,',
    'The leaking roof of the old warehouse in Leipzig needs repair.',
  ]
  const others = 'Drivers scan parcels every single morning.\nLunch was fish with green beans.'
  const text = summarize(transcriptOf(`${part}\n${whole}\n${others}`), 'concise')
  assert.equal(text, whole)
})
