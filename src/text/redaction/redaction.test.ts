import assert from 'node:assert/strict'
import test from 'node:test'
import { buildTranscript, linesOf, redacted } from '../../../test/support/text/build-transcript.ts'
import { AddOnFailedError } from '../result/steps/envelope.ts'
import { redact } from './redaction.ts'

test('an entity becomes a marker, and surrounding punctuation is kept', () => {
  const lines = ["Hello, this is (John), and John's mail is john.smith@example.com."]
  assert.deepEqual(redacted(lines), [
    "Hello, this is ([NAME_GIVEN_1]), and [NAME_GIVEN_1]'s mail is [EMAIL_1].",
  ])
})

test('a mask keeps the number of characters, words and times', () => {
  const before = buildTranscript("This is José Smith's number: 415-555-0199.")
  const { transcript } = redact(before, { processed_text_type: 'MASK' })
  assert.deepEqual(linesOf(transcript), ["This is #### #####'s number: ############."])
  const timesOf = ({ utterances }: typeof before) => {
    return utterances.flatMap(({ words }) => words.map(({ start, end }) => [start, end]))
  }
  assert.deepEqual(timesOf(transcript), timesOf(before))
})

test('the words of an entity become one, from the first start to the last end', () => {
  const before = buildTranscript('I am John Smith today.')
  before.utterances[0]!.words[2]!.confidence = 0.5
  const [utterance] = redact(before).transcript.utterances
  const { text, start, end, confidence } = utterance!.words[2]!
  assert.deepEqual([text, start, end], ['[NAME_1]', 1, 1.9])
  assert.ok(confidence > 0.5 && confidence < 0.9)
  assert.equal(utterance!.words.length, 4)
})

test('equal words of a type share a number, in the order of utterances', () => {
  const lines = ['1: My name is Lena.', '0: My name is Peter. Are you Lena?', '1: Yes, Peter.']
  assert.deepEqual(redacted(lines), [
    'My name is [NAME_GIVEN_1].',
    'My name is [NAME_GIVEN_2]. Are you [NAME_GIVEN_1]?',
    'Yes, [NAME_GIVEN_2].',
  ])
})

test('numbers follow the utterances, not the times across channels', () => {
  const before = buildTranscript('0: I told my friend Anna about it.', '1: Hello Lena.')
  for (const word of before.utterances[1]!.words) {
    word.start -= 9.5
    word.end -= 9.5
  }
  assert.deepEqual(linesOf(redact(before).transcript), [
    'I told my friend [NAME_GIVEN_1] about it.',
    'Hello [NAME_GIVEN_2].',
  ])
})

test('a marker already in the text is not reused', () => {
  assert.deepEqual(redacted(['My name is [NAME_GIVEN_1] and I am Lena.']), [
    'My name is [NAME_GIVEN_1] and I am [NAME_GIVEN_2].',
  ])
})

test('the possessive of a name across utterances is not left alone', () => {
  assert.deepEqual(redacted(['My name is John', "Krol's."]), ["My name is [NAME_1]'s."])
})

test('an entity ends with its last word even if another speaker started later', () => {
  const before = buildTranscript('0/0: My card is 4111 1111', '0/1: Mm-hm.', '0/0: 1111 1111.')
  for (const word of before.utterances[2]!.words) {
    word.start -= 19.5
    word.end -= 19.5
  }
  const [card] = redact(before).transcript.hidden!
  assert.ok(card!.start <= card!.end)
})

test('digits of other scripts are redacted', () => {
  assert.deepEqual(
    redacted(['It is ４１１１ １１１１ １１１１ １１１１.'], { entity_types: 'PCI' }),
    ['It is [CREDIT_CARD_1].'],
  )
})

test('spoken and written digits of a number share a marker', () => {
  const lines = ['Call 415-555-0199, that is four one five, five five five, oh one nine nine.']
  assert.deepEqual(redacted(lines), ['Call [PHONE_NUMBER_1], that is [PHONE_NUMBER_1].'])
})

const dictated = ['My number is 415 555', '1: Mm-hm?', '01 99. Bye.', '415 555 0199']

test('an entity across utterances is marked in its first and removed from later ones', () => {
  const { transcript } = redact(buildTranscript(...dictated))
  assert.deepEqual(linesOf(transcript), [
    'My number is [PHONE_NUMBER_1].',
    'Mm-hm?',
    'Bye.',
    '[PHONE_NUMBER_1]',
  ])
  const [first] = transcript.utterances
  assert.equal(first!.words.at(-1)!.end, 2.4)
  assert.equal(transcript.utterances[2]!.words[0]!.start, 21)
  const alone = redacted(['My card is 4242 4242', '4242 4242'])
  assert.deepEqual(alone, ['My card is [CREDIT_CARD_1]'])
})

test('an entity across utterances is masked in each', () => {
  assert.deepEqual(redacted(dictated, { processed_text_type: 'MASK' }), [
    'My number is ### ###',
    'Mm-hm?',
    '## ##. Bye.',
    '### ### ####',
  ])
})

test('a dictated number continues after another speaker on the channel', () => {
  const lines = ['0/0: My card number is 4242 4242', '0/1: Lovely weather.', '0/0: 4242 4242']
  assert.deepEqual(redacted(lines), ['My card number is [CREDIT_CARD_1]', 'Lovely weather.'])
})

test('spans to silence are in seconds, by channel, one per utterance', () => {
  const { redacted } = redact(buildTranscript(...dictated, '1: My name is Lena.'))
  assert.deepEqual(redacted, [
    { channel: 0, start: 1.5, end: 2.4 },
    { channel: 0, start: 20, end: 20.9 },
    { channel: 0, start: 30, end: 31.4 },
    { channel: 1, start: 41.5, end: 41.9 },
  ])
})

test('without entities the words are unchanged and no span is silenced', () => {
  const before = buildTranscript('We shall see.')
  const { transcript, redacted } = redact(before)
  assert.deepEqual([linesOf(transcript), redacted], [['We shall see.'], []])
})

test('only requested types are hidden, a general one with its subtypes', () => {
  const lines = ['I am John Smith from London, born on May 5th 1990.']
  const hide = (entity_types: string | string[]) => redacted(lines, { entity_types })[0]
  assert.equal(hide('NAME'), 'I am [NAME_1] from London, born on May 5th 1990.')
  assert.equal(hide('NAME_GIVEN'), 'I am [NAME_GIVEN_1] Smith from London, born on May 5th 1990.')
  assert.equal(hide('NAME_FAMILY'), 'I am John [NAME_FAMILY_1] from London, born on May 5th 1990.')
  const doctor = ['Dr. John Smith met Dr. Carter.']
  assert.deepEqual(redacted(doctor, { entity_types: 'NAME_GIVEN' }), [
    'Dr. [NAME_GIVEN_1] Smith met Dr. Carter.',
  ])
  assert.deepEqual(redacted(doctor, { entity_types: 'NAME_FAMILY' }), [
    'Dr. John [NAME_FAMILY_1] met Dr. [NAME_FAMILY_2].',
  ])
  assert.equal(hide(['LOCATION']), 'I am John Smith from [LOCATION_1], born on May 5th 1990.')
  assert.equal(hide(['PCI']), lines[0])
  assert.deepEqual(redacted(['My name is Lena.'], { entity_types: 'NAME' }), [
    'My name is [NAME_1].',
  ])
})

test('existing markers are not redacted again', () => {
  const lines = ['My name is [NAME_1], my password is [PASSWORD_2], my social is [SSN_1234].']
  assert.deepEqual(redacted(lines), lines)
})

test('an unsupported language is rejected without quoting the transcript', () => {
  const french = buildTranscript('Je suis Lena.').utterances.map((one) => ({
    ...one,
    language: 'fr',
  }))
  const utterances = [...buildTranscript('Hello.').utterances, ...french]
  assert.throws(
    () => redact({ utterances }),
    (error) => error instanceof AddOnFailedError && /is in fr$/.test(error.message),
  )
})

test('an utterance without words is of no language', () => {
  const silent = { channel: 0, language: 'fr', words: [] }
  const { transcript } = redact({
    utterances: [silent, ...buildTranscript('I am Lena.').utterances],
  })
  assert.deepEqual(linesOf(transcript), ['', 'I am [NAME_GIVEN_1].'])
})

test('hidden entities are reported with their replacement', () => {
  const { transcript } = redact(buildTranscript('My name is John Smith.'))
  assert.deepEqual(transcript.hidden, [{ type: 'NAME', text: '[NAME_1]', start: 1.5, end: 2.4 }])
  const masked = redact(buildTranscript('My name is John Smith.'), { processed_text_type: 'MASK' })
  assert.equal(masked.transcript.hidden![0]!.text, '#### #####')
})

test('DATE covers days, months, years and spans, and MONTH and YEAR parts of a date', () => {
  const types = (entity_types: string[]) => ({ entity_types })
  const days = ['Open from Monday to Thursday, since March.']
  assert.deepEqual(redacted(days, types(['DATE'])), ['Open [DATE_1], since [DATE_2].'])
  const date = ['We met on March the third, 2024.']
  assert.deepEqual(redacted(date, types(['MONTH'])), ['We met on [MONTH_1] the third, 2024.'])
  assert.deepEqual(redacted(date, types(['YEAR'])), ['We met on March the third, [YEAR_1].'])
  assert.deepEqual(redacted(date, types(['MONTH', 'DATE'])), ['We met on [DATE_1].'])
})

test('a filled pause inside an entity is hidden with it', () => {
  const cases = [
    [
      'My social security number is one two three, hmm, four five, mm, six seven eight nine.',
      'SSN',
    ],
    ['My security code is three, um, one nine.', 'CVV'],
    ['My zip code is nine four, um, one oh three.', 'LOCATION_ZIP'],
    ['My date of birth is March, um, fourth, uh, nineteen eighty-two.', 'DOB'],
    ['My phone number is eight one seven, um, oh, four five six, um, oh, two.', 'PHONE_NUMBER'],
  ] as const
  for (const [line, type] of cases) {
    const [text] = redacted([line])
    assert.match(text!, new RegExp(`^My [a-z ]+ is \\[${type}_1\\]\\.$`))
    const [masked] = redacted([line], { processed_text_type: 'MASK' })
    assert.match(masked!, /^My [a-z ]+ is [# ]+\.$/)
  }
  // Beside one it stays.
  assert.deepEqual(redacted(['I am, um, Lena Miller.']), ['I am, um, [NAME_1].'])
})

test('digits that the other party corrects are hidden', () => {
  const cases = [
    ["So it's oh seven seven double oh, four six two?", 'No, four six one.'],
    [
      'Your account number is double three, nine, four six two?',
      'No, no, four six one at the end.',
    ],
    ["I've got the reference as A, four six two.", 'No, A, four six one.'],
    ["Okay, that's order number four six two, nine nine.", "Actually it's nine eight."],
  ] as const
  for (const [first, second] of cases) {
    for (const speakers of [
      ['0', '1'],
      ['0/0', '0/1'],
    ]) {
      const lines = redacted([`${speakers[0]}: ${first}`, `${speakers[1]}: ${second}`])
      assert.doesNotMatch(lines.join(' '), /four|six|nine/)
    }
  }
  const kept = ['0: Is the price two hundred dollars?', '1: No, two people told me.']
  assert.equal(redacted(kept)[1], 'No, two people told me.')
})

test('a password that is announced for later is hidden once', () => {
  assert.deepEqual(redacted(['Your password is going to be capital R, nine, four, k.']), [
    'Your password is going to be [PASSWORD_1].',
  ])
})
