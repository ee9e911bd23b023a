import assert from 'node:assert/strict'
import test from 'node:test'
import { redacted } from '../../../../test/support/text/build-transcript.ts'

test('a name is also hidden where it appears without a cue', () => {
  const lines = [
    'My name is Anna Kowalski.',
    'The Kowalski file is here. Kowalski called twice. KOWALSKI! The Kowalskis are nice.',
  ]
  assert.deepEqual(redacted(lines, { entity_types: 'NAME', processed_text_type: 'MASK' }), [
    'My name is #### ########.',
    'The ######## file is here. ######## called twice. ########! The ######### are nice.',
  ])
})

test('a lowercase word equal to a name is kept', () => {
  const lines = ['My name is Anna Draper.', 'He is a draper.']
  assert.deepEqual(redacted(lines, { entity_types: 'NAME' })[1], 'He is a draper.')
})

const masked = { entity_types: 'NAME', processed_text_type: 'MASK' } as const

test('a name that is a common word is hidden at the start of a sentence', () => {
  const lines = [
    'My name is Grace Park. I am Mark Young.',
    'Park it is. Grace, was it? Mark is nice.',
  ]
  assert.equal(redacted(lines, masked)[1], '#### it is. #####, was it? #### is nice.')
})

test('at a sentence start a name equal to a function word is hidden if unambiguous', () => {
  const lines = [
    'My name is Will Carter.',
    'Will you come? Will said so. Will? Will, you see. Will Carter.',
  ]
  assert.equal(
    redacted(lines, masked)[1],
    'Will you come? #### said so. ####? ####, you see. #### ######.',
  )
  const oh = ['Her last name is Oh.', 'Oh, I see. So I told Oh that.']
  assert.equal(redacted(oh, masked)[1], 'Oh, I see. So I told ## that.')
})

const forms: [name: string, phrase: string, left: string][] = [
  ['Anna Krol', "KROL'S and KROL’S and krol's", "####'S and ####’S and ####'s"],
  ['Anna Krol', 'K-R-O-L. It is k r o l a b.', '#######. It is # # # # a b.'],
  ['Ann Jones', "At the Joneses' house.", "At the #######' house."],
  ['José García', 'jose garcia called Garcia.', '#### ###### called ######.'],
  ['John Smith', 'Ask john/smith or Smith—then.', 'Ask ####/##### or #####—then.'],
  ['Anna Green', 'The green greens.', 'The green greens.'],
  ['Anna Green', 'the green family will call', 'the ##### family will call'],
]
for (const [name, phrase, left] of forms) {
  test(`redacting ${name} leaves: ${left}`, () => {
    assert.equal(redacted([`0: My name is ${name}.`, `1: ${phrase}`], masked)[1], left)
  })
}

test('a name that was only spelled is hidden as a word', () => {
  const lines = ['The last name is spelled Q U I L L E R.', 'Is quiller right?']
  assert.equal(redacted(lines, masked)[1], 'Is ####### right?')
})

test('names that are months are kept as months', () => {
  const months = ['My first name is June.', 'In June it rains. We all told June about that.']
  assert.equal(
    redacted(months, { entity_types: 'NAME', processed_text_type: 'MASK' })[1],
    'In June it rains. We all told #### about that.',
  )
})

test('all numbers that reveal each other are hidden', () => {
  let digits = '6789'
  const lines = ['My SSN is 123-45-6789.']
  for (let i = 0; i < 130; i++) {
    lines.splice(1, 0, `Then there is part ${digits} in the catalogue of our big store.`)
    digits = digits.length === 4 ? digits + String(((i * 37 + 13) % 90) + 10) : digits.slice(2)
  }
  const left = redacted(lines, { entity_types: 'SSN' })
  assert.deepEqual(
    left.filter((line) => /\d{4}/.test(line)),
    [],
  )
})

test('a known number is hidden with thousands separators, but not part of an amount', () => {
  const lines = ['My SSN is 123-45-6789.', 'That was 123,456,789, and I paid 6,789.']
  assert.equal(redacted(lines, { entity_types: 'SSN' })[1], 'That was [SSN_1], and I paid 6,789.')
})

test('secrets and addresses are hidden where they are repeated', () => {
  const lines = ['My password is Tulip99x.', 'Again, Tulip99x, all small but the first.']
  assert.equal(redacted(lines)[1], 'Again, [PASSWORD_1], all small but the first.')
})

test('repeated parts of a number are hidden, similar amounts are not', () => {
  const lines = [
    'My card number is 4242 4242 4242 4242.',
    '1: So it was 4242, and you paid 424 dollars.',
  ]
  assert.equal(
    redacted(lines, { entity_types: 'CREDIT_CARD' })[1],
    'So it was [CREDIT_CARD_2], and you paid 424 dollars.',
  )
})

test('the last digits of a number are hidden when they are announced', () => {
  for (const [first, again, rest] of [
    ['My social security number is 413-33-0927.', 'Last four 0927?', /0927/],
    ['My account number is 7730418852.', 'I see two 8852 here.', /8852/],
  ] as const) {
    for (const style of ['MARKER', 'MASK'] as const) {
      const [, line] = redacted([`0: ${first}`, `1: ${again}`], { processed_text_type: style })
      assert.doesNotMatch(line!, rest)
    }
  }
})

test('passwords are found in any case, and codes in any grouping', () => {
  const second = (first: string, again: string) => redacted([`0: ${first}`, `1: ${again}`])[1]!
  assert.equal(second('My password is tiger42.', 'Tiger42, right?'), '[PASSWORD_1], right?')
  assert.equal(
    second('My password is blue horse staple.', 'Blue horse staple, right?'),
    '[PASSWORD_1], right?',
  )
  for (const again of ['BMW317', 'b m w three one seven']) {
    const text = second('My license plate is B M W 3 1 7.', `Thank you, ${again}.`)
    assert.match(text, /^Thank you, \[VEHICLE_ID_\d\]\.$/)
  }
})

test('a code is found although its dash was said only once', () => {
  const lines = ['0: Your reference is WX, dash, 4 4 1 2.', '1: WX4412, got it.']
  assert.deepEqual(redacted(lines), [
    'Your reference is [NUMERICAL_PII_1].',
    '[NUMERICAL_PII_2], got it.',
  ])
})
