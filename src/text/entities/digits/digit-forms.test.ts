import assert from 'node:assert/strict'
import test from 'node:test'
import { findEntities } from '../find-entities.ts'
import { foldDigits } from './digit-forms.ts'

test('foldDigits converts digits of any script to ASCII without changing the length', () => {
  const cases = { '０１９': '019', '٠١٩': '019', '०१९': '019', 'a1 é': 'a1 é' }
  for (const [text, folded] of Object.entries(cases)) assert.equal(foldDigits(text), folded)
  assert.equal(foldDigits('𝟙²').length, '𝟙²'.length)
})

test('a number is found in digits of any script', () => {
  const [card] = findEntities({ text: 'It is ４１１１１１１１１１１１１１１１ today' })
  assert.deepEqual([card?.type, card?.from, card?.to], ['CREDIT_CARD', 6, 22])
})
