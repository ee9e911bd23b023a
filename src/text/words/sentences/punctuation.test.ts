import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import { rounds } from '../../../../test/support/random/rounds.ts'
import { heldOut, tuned } from '../../../../test/support/text/punctuation-cases.ts'
import type { Transcript, Utterance } from '../../../transcript/transcript.ts'
import { enhancePunctuation } from './punctuation.ts'

/** Returns words of half a second each. */
function say(text: string, language = 'en'): Utterance {
  const words = text.split(' ').map((part, i) => {
    return { text: part, start: i / 2, end: (i + 1) / 2, confidence: 0.5 }
  })
  return { channel: 0, language, words }
}

function enhance(text: string, language?: string): string {
  const { utterances } = enhancePunctuation({ utterances: [say(text, language)] })
  return utterances[0]!.words.map((word) => word.text).join(' ')
}

function missed(cases: readonly [recognized: string, written: string][]): string[] {
  return cases.flatMap(([recognized, written]) => {
    const got = enhance(recognized)
    return got === written ? [] : [got]
  })
}

test('capitals and punctuation are corrected', () => {
  assert.deepEqual(missed(tuned), [])
})

test('held out: 19 of 20 unseen texts are punctuated as written', () => {
  const wrong = missed(heldOut)
  assert.ok(heldOut.length === 20 && wrong.length <= 1, wrong.join('\n'))
})

test('the input transcript is not modified', () => {
  const recognized = { utterances: [say('i am')] }
  const written = enhancePunctuation(recognized)
  assert.equal(recognized.utterances[0]!.words[0]!.text, 'i')
  assert.equal(written.utterances[0]!.words[0]!.text, 'I')
})

test('a cut by a pause gets no capital, another speaker does', () => {
  const late = say('bonjour toi', 'fr')
  late.words[1]!.start = 10
  late.words[1]!.end = 11
  const other = { ...say('oui', 'fr'), speaker: 1 }
  const { utterances } = enhancePunctuation({ utterances: [late, other] })
  const words = utterances.flatMap((utterance) => utterance.words.map(({ text }) => text))
  assert.deepEqual(words, ['Bonjour', 'toi', 'Oui'])
})

test('a question is detected from the start of its sentence across a pause', () => {
  const recognized = say('Tell me what is it.')
  for (const word of recognized.words.slice(2)) {
    word.start += 9
    word.end += 9
  }
  const { utterances } = enhancePunctuation({ utterances: [recognized] })
  assert.equal(utterances[0]!.words.at(-1)!.text, 'it.')
})

test('other languages get capitals and punctuation without English rules', () => {
  assert.equal(enhance('so,, i monday. Was is los.', 'de'), 'So, i monday. Was is los.')
  assert.equal(enhance('istanbul burada.', 'tr'), 'İstanbul burada.')
  assert.equal(enhance('გამარჯობა ყველას.', 'ka'), 'გამარჯობა ყველას.')
  assert.equal(enhance('ßa ist.', 'de'), 'ßa ist.')
})

test('words with intentional case keep it at the start of a sentence', () => {
  for (const word of ['iPhone', 'mp3', 'example.com', '@name', '#tag', "l'a2"]) {
    assert.equal(enhance(`${word} works.`, 'fr'), `${word} works.`)
  }
})

test('the first word with a letter or digit starts a sentence', () => {
  assert.equal(enhance('– hello there.'), '– Hello there.')
  assert.equal(enhance('5 people came.'), '5 people came.')
})

test('spaces around and before punctuation are removed, French keeps them', () => {
  const marked = (text: string, language: string) => {
    const word = { text, start: 0, end: 1, confidence: 1 }
    const recognized: Transcript = { utterances: [{ channel: 0, language, words: [word] }] }
    return enhancePunctuation(recognized).utterances[0]!.words[0]!.text
  }
  assert.equal(marked(' New  York ,', 'en'), 'New York,')
  assert.equal(marked('Quoi ?', 'fr'), 'Quoi ?')
  assert.equal(marked(' ', 'en'), ' ')
})

test('a name is capitalized if it is so twice as often inside sentences', () => {
  assert.equal(enhance('See Denver or denver.'), 'See Denver or denver.')
  assert.equal(enhance('See Denver, Denver, denver.'), 'See Denver, Denver, Denver.')
  assert.equal(
    enhance('See Denver, Denver, denver, denver.'),
    'See Denver, Denver, denver, denver.',
  )
  assert.equal(enhance('Denver. Denver. See denver.'), 'Denver. Denver. See denver.')
  assert.equal(enhance('See It, It, it.'), 'See It, It, it.')
  assert.equal(enhance("An IPAD, iPad, iPad: ipad's."), "An IPAD, iPad, iPad: iPad's.")
})

const PARTS =
  'hello i I I’m monday may 5 of Anna anna Anna. etc., U.S. what is that. did you? . ,, ... … "so." (i) ß İs ǆ été 3. don’t , -'

test('only case and punctuation change, and a second pass changes nothing', () => {
  const marks = /[\s.,;:!?…]/gu
  const bare = (text: string, language: string) =>
    text.replace(marks, '').toLocaleLowerCase(language)
  const text = fc
    .tuple(
      fc.constantFrom(...PARTS.split(' ')),
      fc.constantFrom('', ',', '.', '..', ' ,', '?', '!?', '.,'),
    )
    .map(([word, tail]) => word + tail)
  const arbitraryParts = fc.tuple(
    fc.constantFrom('en', 'tr', 'fr', 'zh'),
    fc.array(text, { maxLength: 30 }),
    fc.nat(1),
  )
  fc.assert(
    fc.property(fc.array(arbitraryParts, { maxLength: 4 }), (parts) => {
      let clock = 0
      const utterances = parts.map(([language, texts, channel]) => {
        const words = texts.map((text) => ({ text, start: clock++, end: clock, confidence: 0.5 }))
        return { channel, language, words }
      })
      const written = enhancePunctuation({ utterances })
      const plain = (transcript: Transcript) =>
        transcript.utterances.map(({ words, ...whose }) => ({
          ...whose,
          words: words.map((word) => ({ ...word, text: bare(word.text, whose.language) })),
        }))
      assert.deepEqual(plain(written), plain({ utterances }))
      assert.deepEqual(enhancePunctuation(written), written)
      assert.ok(written.utterances.every(({ words }) => words.every(({ text }) => text !== '')))
    }),
    { numRuns: rounds(100) },
  )
})
