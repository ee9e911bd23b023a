import assert from 'node:assert/strict'
import test from 'node:test'
import { scoreFinder, totals } from '../../../test/support/text/labeled-entities/score.ts'
import { labeledSentences } from '../../../test/support/text/labeled-entities/sentences.ts'
import type { EntityType } from './entity-types.ts'
import { findEntities } from './find-entities.ts'

function found(text: string, wanted?: EntityType[]): string[] {
  const entities = findEntities({ text }, wanted && new Set(wanted))
  return entities.map(({ type, from, to }) => `${type} ${text.slice(from, to)}`)
}

const identifiers: EntityType[] = [
  ...(['CREDIT_CARD', 'SSN', 'PHONE_NUMBER', 'EMAIL_ADDRESS', 'IP_ADDRESS', 'CVV'] as const),
  ...(['ROUTING_NUMBER', 'BANK_ACCOUNT', 'ACCOUNT_NUMBER', 'PASSPORT_NUMBER'] as const),
]

test('precision and recall are at least 95 % on the frozen sentences', () => {
  const { precision, recall } = totals(scoreFinder(findEntities, labeledSentences('frozen')))
  assert.ok(precision >= 0.95, `precision ${precision}`)
  assert.ok(recall >= 0.95, `recall ${recall}`)
})

test('every identifier in the frozen sentences is found', () => {
  const counts = scoreFinder(findEntities, labeledSentences('frozen'))
  assert.equal(totals(counts, identifiers).recall, 1)
})

test('precision and recall are 100 % on the tuning sentences', () => {
  const { precision, recall } = totals(scoreFinder(findEntities, labeledSentences('tuning')))
  assert.deepEqual([precision, recall], [1, 1])
})

test('precision is 95 % and recall 89 % or more on the frozen calls', () => {
  const calls = labeledSentences('calls-frozen')
  const { precision, recall } = totals(scoreFinder(findEntities, calls))
  assert.ok(precision >= 0.95, `precision ${precision}`)
  assert.ok(recall >= 0.89, `recall ${recall}`)
})

test('precision and recall are at least 98 % on the tuning calls', () => {
  const calls = labeledSentences('calls-tuning')
  const { precision, recall } = totals(scoreFinder(findEntities, calls))
  assert.ok(precision >= 0.98, `precision ${precision}`)
  assert.ok(recall >= 0.98, `recall ${recall}`)
})

const cases: Record<string, string[]> = {
  'Is John there?': ['NAME_GIVEN John'],
  "It is John Smith's car.": ['NAME John Smith'],
  'Will you mark my words, or grant me a bill?': [],
  'Add one, two, three, four, five, six, seven, eight, nine, ten.': [],
  'It holds 12,345,678 items and 3.14159265 more.': [],
  'It was so in 2019, 2020, 2021 and 2022.': ['YEAR 2019'],
  'I was born on March fifth two thousand twenty one.': ['DOB March fifth two thousand twenty one'],
  'I paid two pounds fifty for tea, 3 euros 20 each and 10 dollars 30 minutes ago.': [
    ...['MONEY two pounds fifty', 'MONEY 3 euros 20', 'MONEY 10 dollars', 'DURATION 30 minutes'],
  ],
  'It was three dollars fifty.': ['MONEY three dollars fifty'],
  'It was three dollars fifty': ['MONEY three dollars fifty'],
  'We meet at half past seven, or a quarter to nine.': [
    ...['TIME half past seven', 'TIME a quarter to nine'],
  ],
  'Is it a quarter past nine or half past seven?': [
    ...['TIME a quarter past nine', 'TIME half past seven'],
  ],
  'Is it a quarter to nine or half past seven?': [
    ...['TIME a quarter to nine', 'TIME half past seven'],
  ],
  'Come between nine and 5 p.m. or call for 25 to 30 minutes.': [
    ...['TIME nine and 5 p.m.', 'DURATION 25 to 30 minutes'],
  ],
  'Children aged 5 to 10 pay $10-15 each, 20 or 30 percent less.': [
    ...['AGE 5 to 10', 'MONEY $10-15', 'STATISTICS 20 or 30 percent'],
  ],
  'He weighs 180 to 200 pounds and paid $5 or ten euros.': [
    ...['PHYSICAL_ATTRIBUTE 180 to 200 pounds', 'MONEY $5', 'MONEY ten euros'],
  ],
  'My number is 4155550199 or 10 minutes.': ['PHONE_NUMBER 4155550199', 'DURATION 10 minutes'],
  'We are away from the 5th to the 7th of March and May fifth through seventh, 2024.': [
    ...['DATE the 5th to the 7th of March', 'DATE May fifth through seventh, 2024'],
  ],
  'March 5 to 10 people came.': ['DATE March 5'],
  'My PIN is four three two one.': ['PASSWORD four three two one'],
  'The password is wrong.': [],
  'Use the password Winter twenty twenty four.': ['PASSWORD Winter twenty twenty four'],
  "My memorable word is Kingfisher and my PIN's 4271.": [
    ...['PASSWORD Kingfisher', 'PASSWORD 4271'],
  ],
  "My name's Xolani, my last name's Achterberg.": [
    ...['NAME_GIVEN Xolani', 'NAME_FAMILY Achterberg'],
  ],
  "Zawadi said she'd call. Please tell Zawadi, or put me through to Juma.": [
    ...['NAME_GIVEN Zawadi', 'NAME_GIVEN Zawadi', 'NAME_GIVEN Juma'],
  ],
  'It belongs to Zawadi Otieno. Is Zawadi available?': ['NAME Zawadi Otieno', 'NAME_GIVEN Zawadi'],
  'Mrs. van der Berg met Reverend Otieno.': ['NAME_FAMILY van der Berg', 'NAME_FAMILY Otieno'],
  'No Fastify runs here, and the name lookup failed.': [],
  'Is Bluetooth available? Put me through to Sales. The doctor hill climbed.': [
    'OCCUPATION doctor',
  ],
  'doctor patel is out': ['NAME_FAMILY patel'],
  'i live at forty two maple avenue': ['LOCATION_ADDRESS_STREET forty two maple avenue'],
  'I live at forty two maple avenue.': ['LOCATION_ADDRESS_STREET forty two maple avenue'],
  "Your address? It's flat three, nineteen green lane, in Bristol.": [
    'LOCATION_ADDRESS flat three, nineteen green lane, in Bristol',
  ],
  'The first line of your address? Twelve station road.': [
    'LOCATION_ADDRESS_STREET Twelve station road',
  ],
  'The delivery address? Eighty eight. Kingsley Road.': [
    'LOCATION_ADDRESS_STREET Eighty eight. Kingsley Road',
  ],
  'Your address? Kingsley Road. It is a quiet one.': ['LOCATION_ADDRESS_STREET Kingsley Road'],
  'My National Insurance number is QQ 12 34 56 C. I pay National Insurance.': ['SSN QQ 12 34 56 C'],
  'I pay Northwind Life Insurance, or Home Insurance Group.': [
    ...['ORGANIZATION Northwind Life Insurance', 'ORGANIZATION Home Insurance Group'],
  ],
  "It's dave. dave whittaker. The will, will of iron.": ['NAME_GIVEN dave', 'NAME dave whittaker'],
  'This is priya, priya ramaswamy, and it rained, rained all day.': [
    ...['NAME_GIVEN priya', 'NAME priya ramaswamy'],
  ],
  'Ask dave, dave said so.': [],
  'It expires November, twenty seven. And the code is one two three.': [
    ...['CREDIT_CARD_EXPIRATION November, twenty seven', 'CVV one two three'],
  ],
  'Your loan application, number seven, seven, dash, four oh nine.': [
    'NUMERICAL_PII seven, seven, dash, four oh nine',
  ],
  'At what time? Half past four.': ['TIME Half past four'],
  'What is the name on the card? M. R. Pemberton.': ['NAME M. R. Pemberton'],
  'My name is J Okafor. This is A Plus, and it is B Street.': ['NAME J Okafor'],
  'Your claim reference? C L dash. Hold on. Eight eight two, dash, one oh four.': [
    'NUMERICAL_PII C L dash. Hold on. Eight eight two, dash, one oh four',
  ],
  'It says A 1 2 D E. Or A1 2DE.': [],
  'Send it to C R zero, four L T, or to E 4 5 G H.': [
    ...['LOCATION_ZIP C R zero, four L T', 'LOCATION_ZIP E 4 5 G H'],
  ],
  'My address is twenty nine a, high street.': [
    'LOCATION_ADDRESS_STREET twenty nine a, high street',
  ],
  'I live on a two lane road. Take the second street and drive three miles down the road.': [],
  'She lives at the end of a three mile country road, past two busy streets.': [],
  'twenty people down the road and ten minutes by road': ['DURATION ten minutes'],
  'We sold 1,234,567 units.': [],
  'I turned 5 pages. Age. Twelve people came. Apply at example dot com.': ['URL example dot com'],
  'my last name is achterberg and my date of birth is march fourth nineteen eighty two': [
    ...['NAME_FAMILY achterberg', 'DOB march fourth nineteen eighty two'],
  ],
  'My birthday is May third, ninety one. He was born in eighty four.': [
    ...['DOB May third, ninety one', 'DOB eighty four'],
  ],
  'Date of birth please. Five three eighty two.': ['DOB Five three eighty two'],
  'Your date of birth? March third. Nineteen eighty five. Thanks.': [
    'DOB March third. Nineteen eighty five',
  ],
  'When were you born? The third of March. Um, eighty five.': [
    'DOB The third of March. Um, eighty five',
  ],
  'Date of birth? March. Twenty third. 1985.': ['DOB March. Twenty third. 1985'],
  'Date of birth? Twelve. Of May. Nineteen eighty.': ['DOB Twelve. Of May. Nineteen eighty'],
  'I was born on May twenty third, ninety one.': ['DOB May twenty third, ninety one'],
  'I was born on May third. Twenty people came.': ['DOB May third'],
  'I was born in May. Three of us came.': ['DOB May'],
  'And the expiry date? Oh four. Twenty seven. Thanks.': [
    'CREDIT_CARD_EXPIRATION Oh four. Twenty seven',
  ],
  'It expires in April. Twenty people know.': ['MONTH April'],
  'What year were you born? Nineteen ninety one.': ['DOB Nineteen ninety one'],
  'Your full name and date of birth? Thandiwe Mthembu, third of May ninety one.': [
    ...['NAME Thandiwe Mthembu', 'DOB third of May ninety one'],
  ],
  'My birthday is 10/31, and I turn thirty four then.': ['DOB 10/31', 'AGE thirty four'],
  'Expiry date, please. Oh one, twenty seven.': ['CREDIT_CARD_EXPIRATION Oh one, twenty seven'],
  'The card expires 01/27, code 812. An error with code 404.': [
    ...['CREDIT_CARD_EXPIRATION 01/27', 'CVV 812'],
  ],
  'Reference AB771294, registration LB07 SEO, NI number QQ 12 34 56 C.': [
    ...['NUMERICAL_PII AB771294', 'VEHICLE_ID LB07 SEO', 'SSN QQ 12 34 56 C'],
  ],
  'Order two coffees by 5 p.m., and see ticket sales in 2024.': ['TIME 5 p.m.', 'YEAR 2024'],
  'I live at Hauptstrasse 15. The address is Flat 3, 17 Rosebery Avenue.': [
    ...['LOCATION_ADDRESS_STREET Hauptstrasse 15'],
    ...['LOCATION_ADDRESS_STREET Flat 3, 17 Rosebery Avenue'],
  ],
  'I live at 5 A & B & C Street, not at 17 Smith and Sons Street.': [
    'LOCATION_ADDRESS_STREET 5 A & B & C Street',
    'LOCATION_ADDRESS_STREET 17 Smith and Sons Street',
  ],
  'The shop is at 42 Smith & Sons Street. I live at A&W 7.': [
    ...['LOCATION_ADDRESS_STREET 42 Smith & Sons Street', 'LOCATION_ADDRESS_STREET A&W 7'],
  ],
  'My address is 17 Barnes&Noble, Boston.': ['LOCATION_ADDRESS 17 Barnes&Noble, Boston'],
  'Eighty four Elm Grove. 1990 Central Park was full.': [
    ...['LOCATION_ADDRESS_STREET Eighty four Elm Grove', 'LOCATION Central Park'],
  ],
  'My email is declan dot murphy at gmail. We met at noon.': [
    ...['EMAIL_ADDRESS declan dot murphy at gmail', 'TIME noon'],
  ],
  'The password was changed by Bob, and the login was blocked.': ['NAME_GIVEN Bob'],
  'The passcode was sent to you.': [],
  'My password is changed 99.': ['PASSWORD changed 99'],
  'My password is seaweed.': ['PASSWORD seaweed'],
  'My password is fred.': ['PASSWORD fred'],
  'My plate is K, as in kilo, D, seven three, X-ray, Yankee, Zulu.': [
    'VEHICLE_ID K, as in kilo, D, seven three, X-ray, Yankee, Zulu',
  ],
  'My plate is G for golf, H, for hotel, ten, thirty one.': [
    'VEHICLE_ID G for golf, H, for hotel, ten, thirty one',
  ],
  'The code is four four one B, for Monday it is two.': [
    ...['NUMERICAL_PII four four one B', 'DAY Monday'],
  ],
  'Clutterbuck, C, L, U, double T, E, R, B, U, C, K.': [
    'NAME_FAMILY C, L, U, double T, E, R, B, U, C, K',
  ],
  'Is that Catherine? With a K. K, A, T, H, R, Y, N.': [
    ...['NAME_GIVEN Catherine', 'NAME_FAMILY K. K, A, T, H, R, Y, N'],
  ],
  'The code is B as in boy, seven seven one two.': [
    'NUMERICAL_PII B as in boy, seven seven one two',
  ],
  'The booking number is B as in boy, seven seven one two.': [
    'NUMERICAL_PII B as in boy, seven seven one two',
  ],
  'That was 457-55-5462.': ['SSN 457-55-5462'],
  'And 4151234567 is my phone number.': ['PHONE_NUMBER 4151234567'],
  'Card four two four two, four two four two. Four two four two. Four two four three.': [
    'CREDIT_CARD four two four two, four two four two. Four two four two. Four two four three',
  ],
  'Call 1-800-FLOWERS, 1-800-got-junk or 800-CALL-ATT.': [
    ...['PHONE_NUMBER 1-800-FLOWERS', 'PHONE_NUMBER 1-800-got-junk', 'PHONE_NUMBER 800-CALL-ATT'],
  ],
  'Call 1 800 FLOWERS about an 800-page, 800-K file of 1 800 pages at -1-800-X.': [
    'PHONE_NUMBER 1 800 FLOWERS',
  ],
  'Go to example dot com slash john dot smith, slash a dash b now.': [
    'URL example dot com slash john dot smith, slash a dash b',
  ],
  'Look at example dot com.': ['URL example dot com'],
  'I live at 15 Elm Street, Denver, Colorado 80202.': [
    'LOCATION_ADDRESS 15 Elm Street, Denver, Colorado 80202',
  ],
  'Most German customers speak German.': ['ORIGIN German', 'LANGUAGE German'],
  'It starts at 5 p.m. on Friday.': ['TIME 5 p.m.', 'DAY Friday'],
  "I'm thirty four and my son is five.": ['AGE thirty four', 'AGE five'],
  'Elon Musk met Christian Bale.': ['NAME Elon Musk', 'NAME Christian Bale'],
  'Mrs. Van Dyke likes her iPhone.': ['NAME_FAMILY Van Dyke', 'PRODUCT iPhone'],
  "My name is Maria, that's M A R I A, last name Gonzalez.": [
    ...['NAME_GIVEN Maria', 'NAME_GIVEN M A R I A', 'NAME_FAMILY Gonzalez'],
  ],
  'My username is cool underscore cat.': ['USERNAME cool underscore cat'],
  'We are open Monday to Friday.': ['DATE_INTERVAL Monday to Friday'],
  'Latitude forty point seven one, longitude minus seventy four point zero six.': [
    'LOCATION_COORDINATE forty point seven one',
    'LOCATION_COORDINATE minus seventy four point zero six',
  ],
  'Longitude is negative seventeen degrees west.': [
    'LOCATION_COORDINATE negative seventeen degrees west',
  ],
  'Born five twelve seventy nine. She was born eleven oh three nineteen eighty in May.': [
    ...['DOB five twelve seventy nine', 'DOB eleven oh three nineteen eighty', 'MONTH May'],
  ],
  'Born five times. He was born five twelve seventy nine times.': [],
  'She broke her left arm, tore his ACL and hurt her back.': [
    ...['INJURY broke her left arm', 'INJURY tore his ACL', 'INJURY hurt her back'],
  ],
  'He broke her heart, our back door and the arm of the chair, and hurt my feelings.': [],
  'Professor Emeritus John Smith met Professor Emeritus Nakamura.': [
    ...['OCCUPATION Professor', 'NAME John Smith', 'OCCUPATION Professor', 'NAME_FAMILY Nakamura'],
  ],
  'He is professor emeritus now.': ['OCCUPATION professor'],
  'Up on the forty-second floor of forty-second Street, after a thirty-second break.': [
    'DURATION a thirty-second',
  ],
  'It cost five pounds fifty, or two hundred yen.': [
    ...['MONEY five pounds fifty', 'MONEY two hundred yen'],
  ],
  'The baby was five pounds, six ounces.': [],
  'My handle is at jane doe, and my username is at sun_fan.': [
    ...['USERNAME at jane doe', 'USERNAME at sun_fan'],
  ],
  'My handle is at sunny on it. The handle is at risk of falling.': ['USERNAME at sunny'],
  'We left Professor Emeritus Qorbani.': ['OCCUPATION Professor', 'NAME_FAMILY Qorbani'],
  'It cost five pounds at our ten year anniversary.': ['MONEY five pounds', 'DURATION ten year'],
  'The username is at the top and the handle is at least new.': [],
  'The handle is at waist height, my login is at work.': [],
  'My login is at home, the handle is at school, at eye level. The handle is at room temperature.':
    [],
  'The handle is at eye level.': [],
  'The login is at five thirty.': ['TIME five thirty'],
  'It hurt our foot traffic, hurt their back line and hurt our shoulder season.': [],
  'A sixty-second time limit, for the thirty-second time.': ['DURATION A sixty-second'],
  'Ask Tom, Anita and Xochitl.': ['NAME_GIVEN Tom', 'NAME_GIVEN Anita', 'NAME_GIVEN Xochitl'],
}
for (const [text, expected] of Object.entries(cases)) {
  test(`finds ${expected.join(', ') || 'no entity'} in: ${text}`, () => {
    assert.deepEqual(found(text), expected)
  })
}

test('a requested type inside a longer entity of another type is found', () => {
  const text = 'I live at 15 Elm Street, Denver, Colorado.'
  assert.deepEqual(found(text, ['LOCATION_CITY']), ['LOCATION_CITY Denver'])
})

test('an hour of digits is processed in limited time', { timeout: 60_000 }, () => {
  assert.ok(findEntities({ text: 'four two, '.repeat(9000) }).length > 0)
})

test('an empty text has no entities', () => {
  assert.deepEqual(found(''), [])
})
