import assert from 'node:assert/strict'
import test from 'node:test'
import { findEntities } from '../find-entities.ts'

function found(text: string): string[] {
  return findEntities({ text }).map(({ type, from, to }) => `${type} ${text.slice(from, to)}`)
}

const cases: Record<string, string[]> = {
  'It is nineteen ninety-nine a month.': ['MONEY nineteen ninety-nine'],
  'They charged me one twenty-four fifty.': ['MONEY one twenty-four fifty'],
  'The rent is twelve hundred.': ['MONEY twelve hundred'],
  'I owe him eighty grand.': ['MONEY eighty grand'],
  'The bill was 20 percent higher.': ['STATISTICS 20 percent'],
  'That was when he was nineteen.': ['AGE nineteen'],
  'How old are you? Well, fifty two.': ['AGE fifty two'],
  "My daughter's five.": ['AGE five'],
  'I am single, he said.': ['MARITAL_STATUS single'],
  'Every single day.': [],
  'I weigh a hundred and eighty pounds.': ['PHYSICAL_ATTRIBUTE a hundred and eighty pounds'],
  'It costs eighty pounds.': ['MONEY eighty pounds'],
  "I'm five foot nine.": ['PHYSICAL_ATTRIBUTE five foot nine'],
  'What time works for you? Two thirty is good.': ['TIME Two thirty'],
  'The PIN ends in four four.': ['PASSWORD four four'],
  'The tracking number starts with one Z, nine nine nine.': ['NUMERICAL_PII one Z, nine nine nine'],
  'The booking reference is L M seven Q R two.': ['NUMERICAL_PII L M seven Q R two'],
  'My phone number is oh seven seven double oh nine nought naught one two three.': [
    'PHONE_NUMBER oh seven seven double oh nine nought naught one two three',
  ],
  'See you at six.': ['TIME six'],
  'Meet me at seven thirty.': ['TIME seven thirty'],
  'It is ten to four.': ['TIME ten to four'],
  'We won four to two, and the score was five to four.': [],
  'The code is Bravo Tango nine four two.': ['NUMERICAL_PII Bravo Tango nine four two'],
  'Your reference is WX, dash, 4 4 1 2.': ['NUMERICAL_PII WX, dash, 4 4 1 2'],
  'My IBAN is GB29, NWBK, 6016, 1331, 9268, 18.': ['BANK_ACCOUNT GB29, NWBK, 6016, 1331, 9268, 18'],
  'I saw Tom, who is nine, again.': ['NAME_GIVEN Tom', 'AGE nine'],
  'It is 14B Mill Lane, flat 2, I think.': ['LOCATION_ADDRESS_STREET 14B Mill Lane, flat 2'],
  'The claim number is AB-99812.': ['NUMERICAL_PII AB-99812'],
  'My policy is A B dash nine nine one two.': ['HEALTHCARE_NUMBER A B dash nine nine one two'],
  'Member ID? Yes. H P four four nine.': ['HEALTHCARE_NUMBER H P four four nine'],
  'The group number is 88 41 02.': ['HEALTHCARE_NUMBER 88 41 02'],
  'It is a Visa ending in 42.': ['CREDIT_CARD 42'],
  'The last four digits are nine zero one two.': ['CREDIT_CARD nine zero one two'],
  'Ask for extension 4417.': ['PHONE_NUMBER 4417'],
  'The card is 4242 4242 4242 4242. 0429.': ['CREDIT_CARD 4242 4242 4242 4242'],
  'I am in Texas 78703.': ['LOCATION_STATE Texas', 'LOCATION_ZIP 78703'],
  'Send it to K1A 0B1.': ['LOCATION_ZIP K1A 0B1'],
  'At nine oh one North Lamar Boulevard.': [
    'LOCATION_ADDRESS_STREET nine oh one North Lamar Boulevard',
  ],
  'On the corner of Fifth Avenue.': ['LOCATION_ADDRESS_STREET Fifth Avenue'],
  "It's p, a, u, l, at gmail dot com.": ['EMAIL_ADDRESS p, a, u, l, at gmail dot com'],
  'Write to bluebird seventy two at gmail dot com.': [
    'EMAIL_ADDRESS bluebird seventy two at gmail dot com',
  ],
  "My e-mail's kim at yahoo dot com.": ['EMAIL_ADDRESS kim at yahoo dot com'],
  'Write to info at thorn bury, one word, dot co dot uk.': [
    'EMAIL_ADDRESS info at thorn bury, one word, dot co dot uk',
  ],
  'My email is sam at big blue sky dot com.': ['EMAIL_ADDRESS sam at big blue sky dot com'],
  'My email came at noon or so, see acme dot com.': ['TIME noon', 'URL acme dot com'],
  'It is t w i l, at proton dot me.': ['EMAIL_ADDRESS t w i l, at proton dot me'],
  'My email is kelly, at comcast.': ['EMAIL_ADDRESS kelly, at comcast'],
  'My e-mail is jane dot doe. At gmail.': ['EMAIL_ADDRESS jane dot doe. At gmail'],
  'Email us. Support. At verizon they never answer.': [],
  'She lives on Maple Street, number forty-two.': [
    'LOCATION_ADDRESS_STREET Maple Street, number forty-two',
  ],
  "It's on Beech Croft Road. Number seven.": [
    'LOCATION_ADDRESS_STREET Beech Croft Road. Number seven',
  ],
  'It is in Elm Street, number one in sales.': ['LOCATION_ADDRESS_STREET Elm Street'],
  'My address is Manor Farm.': ['LOCATION_ADDRESS_STREET Manor Farm'],
  'We saw Manor Farm.': [],
  'Go to docs dot example dot org.': ['URL docs dot example dot org'],
  'My username is night owl 77 and so on.': ['USERNAME night owl 77'],
  'My handle is at night underscore fox.': ['USERNAME at night underscore fox'],
  'The username is already taken.': [],
  'The password is blue giraffe 12.': ['PASSWORD blue giraffe 12'],
  'The password is sunflower, all lower case, two two.': [
    'PASSWORD sunflower, all lower case, two two',
  ],
}
for (const [text, expected] of Object.entries(cases)) {
  test(`finds ${expected.join(', ') || 'no number'} in: ${text}`, () => {
    assert.deepEqual(found(text), expected)
  })
}
