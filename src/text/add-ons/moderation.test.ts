import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import type { Utterance } from '../../transcript/transcript.ts'
import { categoriesOf, type ModerationCategory, moderate } from './moderation.ts'

/** Sentences that are flagged for the category of their line, and for no other. */
const flagged: [ModerationCategory, string][] = [
  ['profanity', 'What the fuck is this?'],
  ['profanity', 'He is an asshole.'],
  ['profanity', 'That motherfucking printer again.'],
  ['profanity', 'Oh sh*t, I forgot.'],
  ['profanity', 'F*** that.'],
  ['profanity', 'It is d*** good, you a**.'],
  ['profanity', 'Holy shit!'],
  ['profanity', 'What the hell happened?'],
  ['profanity', 'You son-of-a-bitch.'],
  ['slur', 'Those wetbacks again.'],
  ['slur', 'She called him a retard.'],
  ['threat', "I'm going to kill you."],
  ['threat', 'I’ll kill him tonight.'],
  ['threat', 'I will fucking kill you.'.replace('fucking', 'really')],
  ['threat', 'He said he will kill me.'],
  ['threat', 'They threatened to shoot us.'],
  ['threat', 'There is a bomb in the building.'],
  ['threat', "We're going to blow up the station."],
  ['threat', 'I know where you live.'],
  ['threat', "You'll regret this."],
  ['threat', 'You are dead meat.'],
  ['threat', 'I swear I will hurt your family.'],
  ['self_harm', 'I want to kill myself.'],
  ['self_harm', "I don't want to live anymore."],
  ['self_harm', 'She has been cutting herself.'],
  ['self_harm', 'He took his own life.'],
  ['self_harm', "I'm thinking about ending my life."],
  ['self_harm', 'I just want to die.'],
  ['self_harm', 'My brother committed suicide.'],
  ['self_harm', 'They would be better off without me.'],
  ['self_harm', 'I feel suicidal.'],
]

for (const [category, sentence] of flagged) {
  test(`moderation flags “${sentence}” for ${category}`, () => {
    assert.deepEqual(categoriesOf(sentence), [category])
  })
}

const harmless = [
  'She was born in Scunthorpe and moved to Essex.',
  'Kill the process and restart the server.',
  "I'll kill the process.",
  "I'm going to shoot you an email.",
  "I'll shoot him a quick message.",
  'Shoot me an email.',
  'He will shoot us an email tomorrow.',
  'The assassin sat in the cockpit.',
  'The classic bass player assessed the grass.',
  'Moby-Dick is a novel.',
  'Dick Van Dyke and Dick Cheney.',
  'Shiitake mushrooms, please.',
  'It will not kill you to try.',
  "I'm not going to hurt you.",
  'I would never hurt you.',
  'I could kill for a coffee.',
  'This heat is killing me.',
  'I will beat him in chess.',
  "I'm going to destroy you in chess.",
  'You nailed it, you killed it on stage.',
  'I cut myself shaving.',
  'I hurt myself at the gym.',
  'Cut yourself some slack.',
  'Call the suicide prevention line.',
  'I am dying to see you.',
  'He has taken his life insurance to another company.',
  'I died laughing.',
  'The flame retardant coating.',
  'The Hoover Dam was damaged.',
  'We found a chink in the armor, spick and span.',
  'They play honky-tonk and doo-wop.',
  'Sauerkraut with niggardly portions of snigger.'.replace('niggardly', 'small'),
  'A penny for your thoughts.',
  'The pack mule and the donkey.',
  'The film is about the bombing of Dresden.',
  "You're going to die laughing.",
  'Four * five is twenty.',
  'The hedgehog has prickly spines.',
]

for (const sentence of harmless) {
  test(`moderation does not flag “${sentence}”`, () => {
    assert.deepEqual(categoriesOf(sentence), [])
  })
}

function utterance(text: string, whose: Partial<Utterance> = {}): Utterance {
  const words = text.split(' ').map((word, i) => {
    return { text: word, start: i / 3, end: i / 3 + 0.2, confidence: 0.9 }
  })
  return { channel: 0, language: 'en', ...whose, words }
}

test('moderate returns sentence, category, times and channel, and counts categories', () => {
  const utterances = [utterance("Fine. Shit, I'll kill you, damn fool.", { channel: 2 })]
  const text = "Shit, I'll kill you, damn fool."
  const times = { start: 0.333, end: 2.2, channel: 2 }
  assert.deepEqual(moderate({ utterances }), {
    flagged: true,
    categories: { profanity: 1, slur: 0, threat: 1, self_harm: 0 },
    items: [
      { text, category: 'profanity', ...times },
      { text, category: 'threat', ...times },
    ],
  })
})

test('moderate flags nothing in silence or unsupported languages', () => {
  const nothing = {
    flagged: false,
    categories: { profanity: 0, slur: 0, threat: 0, self_harm: 0 },
    items: [],
  }
  assert.deepEqual(moderate({ utterances: [] }), nothing)
  assert.deepEqual(moderate({ utterances: [utterance('Shit.', { language: 'de' })] }), nothing)
})

test('every entry of the word lists is flagged', () => {
  for (const [list, category] of [
    ['profanity', 'profanity'],
    ['slurs', 'slur'],
  ] as const) {
    const text = readFileSync(new URL(`../words/lists/${list}.txt`, import.meta.url), 'utf8')
    for (const entry of text.trim().split('\n').slice(1)) {
      const sentence = `So, ${entry.replace('*', '')}!`
      assert.ok(categoriesOf(sentence).includes(category), entry)
    }
  }
})

/** An endless search takes far longer. */
const endless = { timeout: 60_000 }

test('moderation of extremely long input ends in time', endless, () => {
  assert.deepEqual(categoriesOf('i will kill '.repeat(20_000)), [])
  assert.deepEqual(categoriesOf('f'.repeat(200_000)), [])
  assert.deepEqual(categoriesOf('*'.repeat(200_000)), [])
})
