import assert from 'node:assert/strict'
import test from 'node:test'
import fc from 'fast-check'
import type { Utterance } from '../../../transcript/transcript.ts'
import { joinSentences } from './join-sentences.ts'

/** Returns utterances with words of 0.3 s, and 1 s between the utterances. */
function utterancesOf(texts: readonly string[], whose: Partial<Utterance> = {}): Utterance[] {
  let at = 0
  return texts.map((text) => {
    const words = text.split(' ').map((word) => {
      at += 0.3
      return { text: word, start: at - 0.3, end: at, confidence: 0.5 }
    })
    at += 1
    return { channel: 0, language: 'en', words, ...whose }
  })
}

function textsOf(utterances: readonly Utterance[]): string[] {
  return utterances.map(({ words }) => words.map(({ text }) => text).join(' '))
}

function join(...texts: string[]): string[] {
  return textsOf(joinSentences({ utterances: utterancesOf(texts) }).utterances)
}

test('an indirect question is joined to its verb without a question mark', () => {
  assert.deepEqual(join('Ask not.', 'What your country can do for you?', 'Ask what you can do.'), [
    'Ask not what your country can do for you.',
    'Ask what you can do.',
  ])
  assert.deepEqual(join('Tell me.', 'How to get there.'), ['Tell me how to get there.'])
  const question = ['Did you find out.', 'Why the server stopped?']
  assert.deepEqual(join(...question), ['Did you find out why the server stopped?'])
})

test('the last sentence of a recording gets its mark, unless the recording ends with it', () => {
  const joined = (text: string, { silence = 0.31, language = 'en' } = {}) => {
    const utterances = utterancesOf([text], { language })
    const seconds = utterances[0]!.words.at(-1)!.end + silence
    return textsOf(joinSentences({ utterances }, { seconds }).utterances)[0]
  }
  const cases = {
    'Ask not. Ask what you can do': 'Ask not. Ask what you can do.',
    'I see. What is your name': 'I see. What is your name?',
    'That was all.': 'That was all.',
    'We print, and then,': 'We print, and then,',
    'It is one of the': 'It is one of the',
    'Nothing. Go home': 'Nothing. Go home',
    'four two seven': 'four two seven',
  }
  for (const [text, expected] of Object.entries(cases)) assert.equal(joined(text), expected)
  const open = 'Ask what you can do'
  assert.equal(joined(open, { silence: 0.25 }), open)
  assert.equal(joined(open, { language: 'de' }), open)
  assert.deepEqual(join(open), [open])
})

test('complete sentences are not joined', () => {
  const pairs = [
    ['Tell me.', 'What is your name?'],
    ['I know.', 'What he said was wrong.'],
    ['I hope not.', 'What a day.'],
    ['We took plan A.', 'Then we left.'],
    ['That is all.', 'And nobody came.'],
  ]
  for (const pair of pairs) assert.deepEqual(join(...pair), pair)
})

test('the pronoun I gets its capital in text that has capitals', () => {
  assert.deepEqual(join("This is fine i'm talking and (i) i think, i'll go, i.e. now"), [
    "This is fine I'm talking and (i) I think, I'll go, i.e. now",
  ])
  assert.deepEqual(join("so i'm here"), ["so i'm here"])
  assert.deepEqual(join('Well, no.', "so i'm here"), ['Well, no.', "so I'm here"])
  const polish = utterancesOf(['Ala i kot'], { language: 'pl' })
  assert.deepEqual(textsOf(joinSentences({ utterances: polish }).utterances), ['Ala i kot'])
})

test('a full stop is removed where no sentence can end', () => {
  assert.deepEqual(join('She went into the.', 'House that Mr. Hale built.'), [
    'She went into the House that Mr. Hale built.',
  ])
  assert.deepEqual(join('He met the man. who was tall.'), ['He met the man who was tall.'])
})

test('a lowercase letter after a full stop is capitalized', () => {
  assert.deepEqual(join('It did not match. please try again.'), [
    'It did not match. Please try again.',
  ])
  assert.deepEqual(join('Which would you like? we have blue.'), [
    'Which would you like? We have blue.',
  ])
  assert.deepEqual(join('That is right.', 'please go on.'), ['That is right.', 'Please go on.'])
  assert.deepEqual(
    textsOf(
      joinSentences({ utterances: utterancesOf(['Ja. gut.'], { language: 'de' }) }).utterances,
    ),
    ['Ja. Gut.'],
  )
  const unchanged = [
    'I met Mr. smith at 5 p.m. and left.',
    'He said... maybe.',
    'no capitals. at all.',
  ]
  for (const text of unchanged) assert.deepEqual(join(text), [text])
})

test('a capital after an audio cut becomes lowercase', () => {
  assert.deepEqual(join('When the play had ended, She went home, Um slowly.'), [
    'When the play had ended, she went home, um slowly.',
  ])
  const unchanged = [
    'And then he said, The king is dead.',
    'He read two papers, The Times and Die Zeit.',
  ]
  for (const text of unchanged) assert.deepEqual(join(text), [text])
})

test('an utterance after a comma begins in lower case, unless it is a quotation or a name', () => {
  assert.deepEqual(join('It came back more than once that week,', 'For nobody had stopped it.'), [
    'It came back more than once that week, for nobody had stopped it.',
  ])
  const unchanged = [
    ['And then he said,', 'The king is dead.'],
    ['He read two papers,', 'The Times and Die Zeit.'],
    ['Press one,', 'Margaret.'],
    ['We print, and then', 'Um, no.'],
  ]
  for (const texts of unchanged) assert.deepEqual(join(...texts), texts)
  const [first, second] = utterancesOf(['It is not by a similar process,', 'The gut is cut.'])
  const utterances = [first!, { ...second!, speaker: 1 }]
  assert.equal(textsOf(joinSentences({ utterances }).utterances)[1], 'The gut is cut.')
})

test('a question that is cut after an article continues', () => {
  const whole = 'Would you like the ultra model?'
  assert.deepEqual(join('Would you like the?', 'ultra model.'), [whole])
  assert.deepEqual(join('Would you like the?', 'ultra model?'), [whole])
  assert.deepEqual(join('Would you like the?', 'Ultra model'), ['Would you like the Ultra model'])
  assert.deepEqual(join('He wanted the?', 'ultra model.'), ['He wanted the ultra model.'])
  for (const question of ['Did you get an A?', 'Is it his?', 'What is it made of?']) {
    assert.deepEqual(join(question, 'They did.'), [question, 'They did.'])
  }
})

test('repeated punctuation is collapsed', () => {
  assert.deepEqual(join('It differs from most,, if not all,, of them..'), [
    'It differs from most, if not all, of them.',
  ])
})

test('a sentence continues across a short pause, but not across speakers or channels', () => {
  const texts = ['It was the first', 'of many.']
  assert.deepEqual(join(...texts), ['It was the first of many.'])
  const [first, second] = utterancesOf(texts) as [Utterance, Utterance]
  const late = second.words.map((word) => ({ ...word, start: word.start + 1, end: word.end + 1 }))
  const others = [
    { ...second, words: late },
    { ...second, speaker: 1 },
    { ...second, channel: 1 },
    { ...second, language: 'de' },
  ]
  for (const other of others) {
    assert.deepEqual(textsOf(joinSentences({ utterances: [first, other] }).utterances), texts)
  }
})

test('joined utterances are limited in length', () => {
  const [first, second] = [`It ${'went on and '.repeat(9)}on`, `${'and on '.repeat(9)}and ended.`]
  assert.equal(join(first, second).length, 2)
})

test('after a full stop the next utterance begins with a capital, also of another speaker', () => {
  const [first, second] = utterancesOf(['I like it best.', 'in a case of need.'])
  for (const [change, expected] of [
    [{ speaker: 1 }, 'In a case of need.'],
    [{ language: 'fr' }, 'In a case of need.'],
  ] as const) {
    const utterances = [
      { ...first!, speaker: 0 },
      { ...second!, speaker: 0, ...change },
    ]
    assert.deepEqual(textsOf(joinSentences({ utterances }).utterances)[1], expected)
  }
  const interrupted = utterancesOf(['I like', 'in a case of need.', 'The rest.'])
  interrupted[1]!.speaker = 1
  assert.equal(
    textsOf(joinSentences({ utterances: interrupted }).utterances)[1],
    'in a case of need.',
  )
})

test('joining changes only case, punctuation and boundaries', () => {
  const words = fc.constantFrom(
    'the',
    'The',
    'Ask.',
    'not.',
    'what,',
    'You,,',
    'um',
    'Um',
    'who',
    'A.',
  )
  const texts = fc.array(fc.array(words, { minLength: 1 }).map((row) => row.join(' ')))
  const bare = (utterances: readonly Utterance[]) => {
    return utterances
      .flatMap((utterance) => utterance.words)
      .map(({ text, ...times }) => {
        return { ...times, text: text.toLowerCase().replaceAll(/\W/g, '') }
      })
  }
  fc.assert(
    fc.property(texts, (rows) => {
      const before = utterancesOf(rows)
      const { utterances } = joinSentences({ utterances: before })
      assert.deepEqual(bare(utterances), bare(before))
    }),
  )
})

test('a missing full stop is added where a function word with a capital follows a pause', () => {
  const joinAfterPause = (before: string, after: string) => {
    const [first, second] = utterancesOf([before, after])
    const words = [...first!.words, ...second!.words]
    return textsOf(joinSentences({ utterances: [{ ...first!, words }] }).utterances)[0]
  }
  const added = (before: string, after: string, mark = '.') =>
    assert.equal(joinAfterPause(before, after), `${before}${mark} ${after}`)
  const kept = (before: string, after: string) => added(before, after, '')
  added('I am sure we can begin', 'He has known her all her life.')
  added('How are you', 'We are fine.', '?')
  kept('He said', 'What do you want?')
  kept('We went to', 'The Hague.')
  kept('We visited', 'The Hague.')
  kept('People shop at Helston', 'Amakan is closed.')
  kept('I am sure', 'I can begin.')
  const withoutPause = 'We watched Gone With The Wind.'
  assert.deepEqual(join(withoutPause), [withoutPause])
})

test('a missing full stop is added between utterances and speakers, too', () => {
  const joinWith = (whose: Partial<Utterance>, before: string, after: string) => {
    const [first, second] = utterancesOf([before, after])
    const utterances = [
      { ...first!, speaker: 0 },
      { ...second!, speaker: 0, ...whose },
    ]
    return textsOf(joinSentences({ utterances }).utterances)
  }
  const texts = ['Lobster a la newberg', 'He should make inquiries.'] as const
  const ended = ['Lobster a la newberg.', texts[1]]
  assert.deepEqual(joinWith({}, ...texts), ended)
  assert.deepEqual(joinWith({ speaker: 1 }, ...texts), ended)
  assert.deepEqual(joinWith({ language: 'fr' }, ...texts), texts)
  const interrupted = ['I went to the', 'We know that.'] as const
  assert.deepEqual(joinWith({ speaker: 1 }, ...interrupted), interrupted)
  const quote = ['And then she said', 'We know that.'] as const
  assert.deepEqual(joinWith({}, ...quote), quote)
})
