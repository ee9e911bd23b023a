import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readPhones } from './phone-distance.ts'
import { hasSounds, phonesOf } from './phones.ts'

/** Asserts that texts have these phones, as ARPAbet names. */
function assertSounds(sounds: Record<string, string>, language = 'en'): void {
  for (const [text, names] of Object.entries(sounds)) {
    assert.deepEqual(phonesOf(text, language), readPhones(names), text)
  }
}

test('words of the dictionary sound as it says, in any letter case', () => {
  assertSounds({ colonel: 'K ER N AH L', Colonel: 'K ER N AH L', "don't": 'D OW N T' })
})

test('a word with accents sounds as the dictionary says of it without them', () => {
  assertSounds({ José: 'HH OW Z EY', naïve: 'N AY IY V' })
})

test('other words sound as English letters do', () => {
  assertSounds({
    knightly: 'N AY T L IY',
    phlox: 'F L AA K S',
    Zorvane: 'Z AO R V EY N',
    Grübbel: 'G R AH B EH L',
  })
})

test('parts of a name are read one by one', () => {
  assertSounds({ DataDog: 'D EY T AH D AO G', 'data-dog': 'D EY T AH D AO G' })
})

test('short capitals are read letter by letter unless they are a long word', () => {
  assertSounds({ SQL: 'EH S K Y UW EH L', US: 'Y UW EH S', NASA: 'N AE S AH', us: 'AH S' })
})

test('digits are read one by one', () => {
  assertSounds({ '42': 'F AO R T UW' })
})

test('each of the other languages sounds as its own letters do', () => {
  assertSounds({ schön: 'SH ER N', Wagner: 'V AA G N AH' }, 'de')
  assertSounds({ Beauchamp: 'B OW SH AA N' }, 'fr')
  assertSounds({ niño: 'N IY N Y OW' }, 'es')
  assertSounds({ gnocchi: 'N Y OW K IY' }, 'it')
  assertSounds({ João: 'ZH OW AW N' }, 'pt')
})

test('only languages with letters of ours have sounds', () => {
  assert.deepEqual(['en', 'de', 'fi', 'toString'].map(hasSounds), [true, true, false, false])
})
