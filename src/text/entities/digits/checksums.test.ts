import assert from 'node:assert/strict'
import test from 'node:test'
import {
  isIban,
  isLuhn,
  isMedicareIdentifier,
  isNorthAmericanPhone,
  isSsn,
  isVin,
} from './checksums.ts'

/** Valid samples, then samples with a single fault. */
const samples: [(digits: string) => boolean, string[], string[]][] = [
  [isLuhn, ['4111111111111111', '5500000000000004', '378282246310005'], ['4111111111111112']],
  [
    isSsn,
    ['123456789', '899010001'],
    ['000456789', '666456789', '900456789', '123006789', '123450000', '12345678'],
  ],
  [
    isNorthAmericanPhone,
    ['4155550199', '14155550199'],
    ['1155550199', '4151550199', '415555019', '24155550199'],
  ],
  [
    isIban,
    ['DE89370400440532013000', 'GB29NWBK60161331926819'],
    ['DE89370400440532013001', '8937040044053201'],
  ],
  [
    isVin,
    ['1HGCM82633A004352', '1M8GDM9AXKP042788'],
    ['1HGCM82633A004353', '1HGCM8263IA004352', '1HGCM82633A00435'],
  ],
  [isMedicareIdentifier, ['1EG4TE5MK73'], ['0EG4TE5MK73', '1SG4TE5MK73', '1EG4TE5MK7']],
]
for (const [check, right, wrong] of samples) {
  test(`${check.name} accepts ${right.join(', ')} and rejects ${wrong.join(', ')}`, () => {
    assert.deepEqual(
      right.map(check),
      right.map(() => true),
    )
    assert.deepEqual(
      wrong.map(check),
      wrong.map(() => false),
    )
  })
}
