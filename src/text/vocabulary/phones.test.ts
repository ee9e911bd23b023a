import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readPhones } from './phone-distance.ts'
import { phonesOf, supportsPhones } from './phones.ts'

/** Asserts that texts have these phones, as ARPAbet names. */
function assertSounds(sounds: Record<string, string>, language = 'en'): void {
  for (const [text, names] of Object.entries(sounds)) {
    assert.deepEqual(phonesOf(text, language), readPhones(names), text)
  }
}

test('dictionary words have their listed sounds in any case', () => {
  assertSounds({ colonel: 'K ER N AH L', Colonel: 'K ER N AH L', "don't": 'D OW N T' })
})

test('a word with accents has the sounds of its unaccented form', () => {
  assertSounds({ José: 'HH OW Z EY', naïve: 'N AY IY V' })
  assert.deepEqual(phonesOf('Møller', 'en'), phonesOf('Moller', 'en'))
})

test('unknown words follow English letter-to-sound rules', () => {
  assertSounds({
    knightly: 'N AY T L IY',
    phlox: 'F L AA K S',
    Zorvane: 'Z AO R V EY N',
    Grübbel: 'G R AH B EH L',
  })
})

test('parts of a name are pronounced separately', () => {
  assertSounds({ DataDog: 'D EY T AH D AO G', 'data-dog': 'D EY T AH D AO G' })
})

test('short capitals are spelled out unless they are a longer word', () => {
  assertSounds({ SQL: 'EH S K Y UW EH L', US: 'Y UW EH S', NASA: 'N AE S AH', us: 'AH S' })
})

test('digits are spoken one by one', () => {
  assertSounds({ '42': 'F AO R T UW' })
})

test('other supported languages have their own letter-to-sound rules', () => {
  assertSounds({ schön: 'SH ER N', Wagner: 'V AA G N AH' }, 'de')
  assertSounds({ Beauchamp: 'B OW SH AA N' }, 'fr')
  assertSounds({ niño: 'N IY N Y OW' }, 'es')
  assertSounds({ gnocchi: 'N Y OW K IY' }, 'it')
  assertSounds({ João: 'ZH OW AW N' }, 'pt')
})

test('supportsPhones is true only for supported languages', () => {
  assert.deepEqual(['en', 'de', 'fi', 'toString'].map(supportsPhones), [true, true, false, false])
})
