import assert from 'node:assert/strict'
import test from 'node:test'
import { findEntities } from '../find-entities.ts'

/** Returns the entities in answers, each with what the other channel said before it. */
function answered(...turns: [phrase: string, answer: string][]): string[] {
  let text = ''
  const interjections = turns.map(([phrase, answer]) => {
    const at = text.length
    text += `${answer} `
    return { at, text: phrase }
  })
  const entities = findEntities({ text, interjections })
  return entities.map(({ type, from, to }) => `${type} ${text.slice(from, to)}`)
}

test('a question on another channel is a cue for the answer', () => {
  const born = answered(["What's your date of birth?", 'April twelfth, nineteen ninety.'])
  assert.deepEqual(born, ['DOB April twelfth, nineteen ninety'])
  assert.deepEqual(answered(['And your zip?', 'One zero zero two five.']), [
    'LOCATION_ZIP One zero zero two five',
  ])
  assert.deepEqual(answered(['Your last name, please.', 'Castellanos.']), [
    'NAME_FAMILY Castellanos',
  ])
})

const answers: [question: string, answer: string, found: string][] = [
  ["What's your address?", 'Ten Downing Street.', 'LOCATION_ADDRESS_STREET Ten Downing Street'],
  [
    'Where do you live?',
    'Forty two Maple Avenue.',
    'LOCATION_ADDRESS_STREET Forty two Maple Avenue',
  ],
  ['Where do you live?', 'Seven Beech Croft.', 'LOCATION_ADDRESS_STREET Seven Beech Croft'],
  [
    'Where should we ship it?',
    "It's forty-one Rosewood, apartment six.",
    'LOCATION_ADDRESS_STREET forty-one Rosewood, apartment six',
  ],
  ['Your address and zip?', 'Sure, nine Oak Bend.', 'LOCATION_ADDRESS_STREET nine Oak Bend'],
  ['What year were you born?', 'Nineteen. Sixty. Four.', 'DOB Nineteen. Sixty. Four'],
  ['And your birth year, please?', 'Sixty. Four.', 'DOB Sixty. Four'],
  ['When were you born?', 'Nineteen eighty. Four of us were.', 'DOB Nineteen eighty'],
  ['How do you say your last name?', "It's pronounced Fanshaw.", 'NAME_FAMILY Fanshaw'],
  [
    'Your date of birth?',
    'The fifth of the sixth, eighty four.',
    'DOB The fifth of the sixth, eighty four',
  ],
  ['Your date of birth?', 'The fifth of June, eighty four.', 'DOB The fifth of June, eighty four'],
  ['CVV, please.', 'Four seven one.', 'CVV Four seven one'],
  ['Surname?', 'Achterberg.', 'NAME_FAMILY Achterberg'],
  ['Last four of your social, please.', '6789.', 'SSN 6789'],
  ['And your postcode?', 'S W one A one A A.', 'LOCATION_ZIP S W one A one A A'],
  ['The address and postcode?', 'B fifteen, three T J.', 'LOCATION_ZIP B fifteen, three T J'],
  ["What's the reg?", 'Kilo six x-ray tango.', 'VEHICLE_ID Kilo six x-ray tango'],
  ['Is your policy number to hand?', 'HX 7 7 2 1.', 'HEALTHCARE_NUMBER HX 7 7 2 1'],
  ['And your e-mail?', "It's john dot smith.", 'EMAIL_ADDRESS john dot smith'],
]
for (const [question, answer, expected] of answers) {
  test(`finds ${expected} in the answer to: ${question}`, () => {
    assert.deepEqual(answered([question, answer]), [expected])
  })
}

test('a question may refer to the sentence before it', () => {
  const asked = "I've sent you a security code. Can you read it back?"
  assert.deepEqual(answered([asked, 'Eight eight one, four.']), ['CVV Eight eight one, four'])
  assert.deepEqual(answered(['Four boxes. Can you read it back?', 'Eight eight one.']), [])
  assert.deepEqual(answered(["I've sent a code. Are you well?", 'Eight eight one.']), [])
})

test('the year of a birthday may be asked after its day', () => {
  const found = answered(["What's your birthday?", 'June the fifth.'], ['And the year?', 'Ninety.'])
  assert.deepEqual(found, ['DOB June the fifth', 'DOB Ninety'])
  assert.deepEqual(answered(['And the year?', 'Ninety.']), [])
})

test('an ordinal is a date of birth only after such a question', () => {
  assert.deepEqual(answered(['Which one?', 'The fifth of the sixth, eighty four.']), [])
})

test('numbers that answer different questions are separate entities', () => {
  const found = answered(
    ['The number of the card?', 'Four two four two. Four two four two. Four two four three.'],
    ['And the expiration date?', 'Oh nine twenty seven.'],
    ['And the three digits on the back?', 'Eight zero four.'],
  )
  assert.deepEqual(found, [
    'CREDIT_CARD Four two four two. Four two four two. Four two four three',
    'CREDIT_CARD_EXPIRATION Oh nine twenty seven',
    'CVV Eight zero four',
  ])
})

test('an interjection that is not a question does not split a number', () => {
  const found = answered(
    ['Mm-hm.', 'It is four one five.'],
    ['Yes?', 'Five five five, oh one two two.'],
  )
  assert.deepEqual(found, ['PHONE_NUMBER four one five. Five five five, oh one two two'])
})

test('only the last sentence of another speaker is used as a question', () => {
  assert.deepEqual(answered(['What is your date of birth? I am Lena.', 'May first.']), [
    'DATE May first',
  ])
})

test('an entity interrupted by a question is found as a whole', () => {
  const found = answered(
    ['What is the address?', 'I live at 15 Elm Street.'],
    ['And the city?', 'Denver, Colorado.'],
  )
  assert.deepEqual(found, ['LOCATION_ADDRESS 15 Elm Street. Denver, Colorado'])
})
