import assert from 'node:assert/strict'
import test from 'node:test'
import type { Utterance } from '../../../transcript/transcript.ts'
import { formatNumbers } from './format-numbers.ts'

/** Returns words of a second each. */
function utterance(text: string, language = 'en'): Utterance {
  const words = text.split(' ').map((word, i) => {
    return { text: word, start: i, end: i + 1, confidence: i % 2 }
  })
  return { channel: 0, language, words }
}

function written(text: string, style: 'digits' | 'words', language?: string): string {
  const { utterances } = formatNumbers({ utterances: [utterance(text, language)] }, { style })
  return utterances[0]!.words.map((word) => word.text).join(' ')
}

test('style digits converts numbers, years, times, ordinals and decimals', () => {
  const cases = {
    'Press one, or press two.': 'Press 1, or press 2.',
    'It cost three hundred and fifty dollars and 125 euros.': 'It cost 350 dollars and 125 euros.',
    'one hundred twenty-three thousand four hundred fifty-six': '123,456',
    'Two million five': '2,000,005',
    'In nineteen eighty-four, nineteen oh five and two thousand and five.':
      'In 1984, 1905 and 2005.',
    'At seven thirty p.m. on the twenty first.': 'At 7:30 p.m. on the 21st.',
    'the fifteenth century': 'the 15th century',
    'three point one four, twenty-five percent': '3.14, 25 percent',
    'Five five five, one two.': '5 5 5, 1 2.',
    'A hundred and fifty people, a thousand two hundred.': '150 people, 1200.',
    'ten eleven twelve thirteen fourteen': '10 11 12 13 14',
    'Page five, nineteen twenty, chapter five nineteen twenty.': 'Page 5, 1920, chapter 5 1920.',
    'Call one eight hundred five five five one two.': 'Call 1 800 5 5 5 1 2.',
    'one hundred five, two hundred and five': '105, 205',
    'three point oh five, version three point oh': '3.05, version 3.0',
    'It expires oh nine twenty-seven.': 'It expires 0 9 27.',
    'At seven oh five p.m. or eleven oh five a.m.': 'At 7:05 p.m. or 11:05 a.m.',
    'A thirty second break on thirty second street.': 'A 30 second break on 32nd street.',
  }
  for (const [text, expected] of Object.entries(cases))
    assert.equal(written(text, 'digits'), expected)
})

test('style digits keeps two numbers with scales apart, and one scale of a range', () => {
  const cases = {
    'between one thousand and two thousand people': 'between 1000 and 2000 people',
    'two hundred and three hundred, one million two million': '200 and 300, 1,000,000 2,000,000',
    'nine hundred thousand and one hundred and five': '900,105',
    'five to ten thousand dollars, two or three hundred':
      '5 to 10 thousand dollars, 2 or 3 hundred',
    'between five and ten million, from one to two hundred':
      'between 5 and 10 million, from 1 to 2 hundred',
    'two hundred to three hundred thousand, from ten to twenty':
      '200 to 300 thousand, from 10 to 20',
    'one hundred hundred': '100 hundred',
  }
  for (const [text, expected] of Object.entries(cases))
    assert.equal(written(text, 'digits'), expected)
})

test('style digits keeps fixed expressions in words, and writes some in their own way', () => {
  const cases = {
    'Zero tolerance at ground zero, patient zero. Zero in on cloud nine, a zero sum game. Zero of us.':
      'Zero tolerance at ground zero, patient zero. Zero in on cloud nine, a zero sum game. 0 of us.',
    'An hour or two, a day or two; two or three days, a five or two.':
      'An hour or two, a day or two; 2 or 3 days, a 5 or 2.',
    'Open twenty-four seven. Call nine one one now. Since nine eleven, and post nine eleven rules.':
      'Open 24/7. Call 911 now. Since 9/11, and post 9/11 rules.',
    "At nine eleven p.m. It's nine eleven. Ten nine eleven. Twenty four seven inch screens.":
      "At 9:11 p.m. It's nine eleven. 10 9 11. 24 7 inch screens.",
    'A call to nine one one. Two of us.': 'A call to 911. 2 of us.',
    'One nine one one two. Nine, one one. Nine one one zero.': '1 9 1 1 2. 9, 1 1. 9 1 1 0.',
    'Three D prints over five G, or two-D. Three d, nine G, two. D.':
      '3D prints over 5G, or two-D. 3 d, 9 G, 2. D.',
  }
  for (const [text, expected] of Object.entries(cases))
    assert.equal(written(text, 'digits'), expected)
})

test('style digits reads dictated zeros and repeated digits in a row only', () => {
  const cases = {
    'nine oh two one oh, nine oh, four oh four, one oh one.': '9 0 2 1 0, 9 0, 4 0 4, 1 0 1.',
    'oh seven double seven nine hundred, double five': '0 7 77 900, 55',
    'It is double seven, triple five.': 'It is 77, 555.',
    'Oh, five left. Oh no, oh five people. A double six.':
      'Oh, 5 left. Oh no, oh 5 people. A double 6.',
    'version two point oh point one': 'version 2.0.1',
    'The code is double seven, it ends in triple five.': 'The code is 77, it ends in 555.',
  }
  for (const [text, expected] of Object.entries(cases))
    assert.equal(written(text, 'digits'), expected)
})

test('style digits joins numbers that are spoken with dots, and room numbers of round tens', () => {
  const cases = {
    'At one ninety-two dot one sixty-eight dot one dot one.': 'At 192.168.1.1.',
    'ten dot oh dot zero dot one two seven, 10 dot 2': '10.0.0.127, 10.2',
    'version three dot eleven, version one dot two fifty-five': 'version 3.11, version 1.255',
    'three dot com, four dot five dot com, a dot five': '3 dot com, 4 dot 5 dot com, a dot 5',
    'one dot one eight hundred, three dot twenty-fold, two dot first':
      'one dot 1 800, 3 dot twenty-fold, 2 dot first',
    'extension two twenty, room five fifteen, page one ten': 'extension 220, room 515, page 110',
    'extension two twenty minutes, three twenty': 'extension 2 20 minutes, three twenty',
    'One double espresso. The zip is one double oh one one':
      'One double espresso. The zip is 1 00 1 1',
    'Agent double oh seven. Five double oh seven, double oh seven five, five double oh, seven':
      'Agent 007. 5 00 7, 00 7 5, 5 00, 7',
  }
  for (const [text, expected] of Object.entries(cases))
    assert.equal(written(text, 'digits'), expected)
})

test('style digits reads times of the clock after prepositions', () => {
  const cases = {
    'At eight thirty, until eleven fifteen.': 'At 8:30, until 11:15.',
    'from eleven thirty to twelve oh five': 'from 11:30 to 12:05',
    'at two fifteen dollars, at one thousand thirty': 'at two fifteen dollars, at 1030',
    'Page eleven twelve, in eleven thirty.': 'Page 11 12, in 1130.',
  }
  for (const [text, expected] of Object.entries(cases))
    assert.equal(written(text, 'digits'), expected)
})

test('style digits reads times of the clock in intervals, before parts of the day and days', () => {
  const cases = {
    'Open from nine thirty to five, or from eight to five thirty every day.':
      'Open from 9:30 to 5, or from 8 to 5:30 every day.',
    'from nine fifteen until noon, between two forty-five and 3:30, from nine thirty to four oh five':
      'from 9:15 until noon, between 2:45 and 3:30, from 9:30 to 4:05',
    'between eight thirty and ten forty five, from eight thirty to ten fifteen on Monday':
      'between 8:30 and 10:45, from 8:30 to 10:15 on Monday',
    'It was six forty-one in the morning. Call me seven thirty tomorrow.':
      'It was 6:41 in the morning. Call me 7:30 tomorrow.',
    'from two thirty to four people, from two to five thirty student classes':
      'from two thirty to 4 people, from 2 to five thirty student classes',
    'from two twenty to three, from two thirty to four hundred':
      'from two twenty to 3, from two thirty to 400',
    'the nine thirty and five, between nine thirty to five, from nine, thirty to five':
      'the nine thirty and 5, between nine thirty to 5, from 9, 30 to 5',
    'from eight forty five to nine thirty Eastern, from fourteen to five thirty':
      'from 8:45 to 9:30 Eastern, from 14 to five thirty',
    'from nine thirty, to five, from eight, fifteen to five thirty, from one forty, five to two thirty':
      'from nine thirty, to 5, from 8, 15 to five thirty, from one forty, 5 to two thirty',
    'In nineteen thirty in the morning ten fifteen-year-olds came tomorrow.':
      'In 1930 in the morning 10 fifteen-year-olds came tomorrow.',
    'five thirty. Tomorrow, five thirty, in the morning':
      'five thirty. Tomorrow, five thirty, in the morning',
    'Room three fifteen tonight, flight two ten in the morning, highway one oh one tomorrow.':
      'Room 315 tonight, flight 210 in the morning, highway 101 tomorrow.',
    'Heart rate one ten in the morning': 'Heart rate 110 in the morning',
    'Her sugar was one fifteen in the morning, and he takes two fifty in the evening.':
      'Her sugar was 115 in the morning, and he takes two fifty in the evening.',
    'I weigh one forty-five tonight. He takes the bus at six forty-one in the morning.':
      'I weigh 145 tonight. He takes the bus at 6:41 in the morning.',
  }
  for (const [text, expected] of Object.entries(cases))
    assert.equal(written(text, 'digits'), expected)
})

test('style digits joins the number of a house after "at"', () => {
  const cases = {
    'She lives at one oh one North Main Street, he at eight thirty Elm Street.':
      'She lives at 101 North Main Street, he at 830 Elm Street.',
    'We met at twelve fifteen Fifth Avenue, went to eleven thirty 42nd Street.':
      'We met at 1215 Fifth Avenue, went to 1130 42nd Street.',
    'After seven thirty Abbey Road was quiet, until nine fifteen Diane Lane came.':
      'After 7:30 Abbey Road was quiet, until 9:15 Diane Lane came.',
    'At eight thirty Place Clichy woke.': 'At 8:30 Place Clichy woke.',
    'At eight thirty John left. At nine fifteen Anna, Elm Street.':
      'At 8:30 John left. At 9:15 Anna, Elm Street.',
    'We met at eight thirty. Elm Street was closed. By nine thirty, Wall Street was up.':
      'We met at 8:30. Elm Street was closed. By 9:30, Wall Street was up.',
    'At nine thirty District Court opened, by eleven thirty Times Square was full.':
      'At 9:30 District Court opened, by 11:30 Times Square was full.',
    'At ten thirty Main Street is closed.': 'At 10:30 Main Street is closed.',
  }
  for (const [text, expected] of Object.entries(cases))
    assert.equal(written(text, 'digits'), expected)
})

test('style digits writes prices that end like those of shops as decimals', () => {
  const cases = {
    'It is nineteen ninety-nine a month, or forty nine ninety five per person.':
      'It is 19.99 a month, or 49.95 per person.',
    'ten fifty nine a gallon and twenty-four thirty-nine each night':
      '10.59 a gallon and 24.39 each night',
    'In nineteen ninety-nine a month and a week passed.': 'In 1999 a month and a week passed.',
    'It was nineteen ninety-nine a year after nineteen ninety-eight.':
      'It was 1999 a year after 1998.',
    'It was nineteen ninety-nine. A month, a year. In nineteen ninety-five each ticket rose.':
      'It was 1999. A month, a year. In 1995 each ticket rose.',
    'The year was nineteen ninety-nine each person knew.': 'The year was 1999 each person knew.',
    'The rent is twelve ninety-five a month.': 'The rent is 1295 a month.',
    'twelve fifty an hour, fourteen fifty-two a week, twenty nineteen a year':
      'twelve fifty an hour, fourteen fifty-two a week, twenty nineteen a year',
    'two thousand ninety-nine a month, nineteen hundred thirty-nine a month':
      '2099 a month, 1939 a month',
    'twenty thirty-ninth a month, four ninety-nine a month':
      '20 39th a month, four ninety-nine a month',
    'the twenty-fourth thirty-nine a month, ten one hundred ninety-nine a month':
      'the 24th 39 a month, 10 199 a month',
    'thirty forty-nine per cent, thirty forty-nine and':
      'thirty forty-nine per cent, thirty forty-nine and',
    'In June nineteen sixty-nine a month and a half before the landing':
      'In June 1969 a month and a half before the landing',
    'On December third nineteen eighty-nine a week and a day later':
      'On December third 1989 a week and a day later',
    'In twelve ninety-nine a year or so later': 'In 1299 a year or so later',
    'It began about nineteen forty-nine a year or so after.':
      'It began about 1949 a year or so after.',
    'from nineteen ninety through nineteen ninety-nine each year':
      'from 1990 through 1999 each year',
    'It leaves at eleven fifty-nine each night. Steak twelve ninety-nine a pound.':
      'It leaves at eleven fifty-nine each night. Steak 12.99 a pound.',
  }
  for (const [text, expected] of Object.entries(cases))
    assert.equal(written(text, 'digits'), expected)
})

test('style digits reads decimals of two digits, without a whole number and of dictated digits', () => {
  const cases = {
    'From Python three point nine to three point twelve, pi is three point fourteen.':
      'From Python 3.9 to 3.12, pi is 3.14.',
    'Version ten point fifteen point seven, one point two point fifteen, a ten point five point lead':
      'Version 10.15.7, 1.2.15, a 10.5 point lead',
    'two point twenty-five, version one point ten, two point twenty-fold':
      '2.25, version 1.10, 2 point twenty-fold',
    'two point first, two point twelfth, two point twelve hundred':
      '2 point first, 2 point 12th, 2 point 1200',
    'Contact tower one one eight point seven, or one two oh point nine five.':
      'Contact tower 118.7, or 120.95.',
    'Take one two point five milligram tablet, five, one one eight point seven.':
      'Take one 2.5 milligram tablet, 5, 118.7.',
    'five one eight six seven, one two three point': '5 1 8 6 7, 1 2 3 point',
    'Give point two five milligrams. Point five percent, up point five percent.':
      'Give 0.25 milligrams. 0.5 percent, up 0.5 percent.',
    'At this point five miles remain. Only point five, only point five people.':
      'At this point 5 miles remain. Only point 5, only point 5 people.',
    'A twenty point twelve rebound night, a ten point twenty day plan, by two point twenty seconds':
      'A 20 point 12 rebound night, a 10 point 20 day plan, by 2.20 seconds',
    'Version three point twelve of it, zero one zero point five': 'Version 3.12 of it, 0 1 0.5',
    'two point fifty milligrams': '2.50 milligrams',
    'One point twenty-five percent. At one point twenty percent left.':
      '1.25 percent. At one point 20 percent left.',
    'At one point we met. At one point twenty people left. One point five, one point.':
      'At one point we met. At one point 20 people left. 1.5, one point.',
  }
  for (const [text, expected] of Object.entries(cases))
    assert.equal(written(text, 'digits'), expected)
})

test('style digits joins the digits of weights and of the heat of an oven', () => {
  const cases = {
    'Preheat the oven to three fifty, then bake it at four twenty-five.':
      'Preheat the oven to 350, then bake it at 425.',
    'Bake it at four twenty for a friend of ours who goes to three fifty.':
      'Bake it at four twenty for a friend of ours who goes to three fifty.',
    'An oven of three fifty.': 'An oven of three fifty.',
    'Turn it up to three seventy-five, at three fifty-five.':
      'Turn it up to three seventy-five, at three fifty-five.',
    'He weighs one sixty-five pounds, she one twenty pounds.':
      'He weighs 165 pounds, she 120 pounds.',
    'A three sixty degree view, two twenty-five pound bags.':
      'A 360 degree view, two 25 pound bags.',
    'It has one ninety degree angle and two forty-five degree angles.':
      'It has one 90 degree angle and two 45 degree angles.',
    'She baked cookies and left at four twenty-five. We serve the roast at one fifty.':
      'She baked cookies and left at four twenty-five. We serve the roast at one fifty.',
    'Preheat the oven. He came at four twenty-five. The oven broke at six fifty.':
      'Preheat the oven. He came at four twenty-five. The oven broke at six fifty.',
  }
  for (const [text, expected] of Object.entries(cases))
    assert.equal(written(text, 'digits'), expected)
})

test('style digits writes decades, and three digits that are spoken as one and two', () => {
  const cases = {
    'In the nineteen nineties, the twenty twenties’ end and the eighteen hundreds.':
      'In the 1990s, the 2020s’ end and the 1800s.',
    'I live at one twenty-three Main Street, room four fifty two.':
      'I live at 123 Main Street, room 452.',
    'One twenty-three Main Street, flight two eighty six, the seven forty-seven.':
      '123 Main Street, flight 286, the 747.',
    'That one twenty-two years ago, that one twenty-two.': 'That one 22 years ago, that one 22.',
    'He scored two twenty-one yard touchdowns.': 'He scored two 21 yard touchdowns.',
    'two thirty-five dollars, two twenty-one million': 'two thirty-five dollars, 2 21,000,000',
    'five five twenty-one, five twenty-one twelve': '5 5 21, 5 21 12',
    'Rooms two twenty-one and two twenty-two, flight one sixty-one to Oslo.':
      'Rooms 221 and 222, flight 161 to Oslo.',
    'two fifty, at four fifty-two, at four fifty-two Oak Street':
      'two fifty, at four fifty-two, at 452 Oak Street',
  }
  for (const [text, expected] of Object.entries(cases))
    assert.equal(written(text, 'digits'), expected)
})

test('both styles know trillions', () => {
  assert.equal(
    written('One trillion two hundred billion, one trillionth, 2.5 trillion.', 'digits'),
    '1,200,000,000,000, one trillionth, 2.5 trillion.',
  )
  assert.equal(
    written('1,200,000,000,000 of $2 trillion.', 'words'),
    'One trillion two hundred billion of two trillion dollars.',
  )
})

test('style digits joins the three digits of pressures, degrees, decimals and rooms', () => {
  const cases = {
    'Blood pressure one twenty over eighty, then one oh five over sixty-five.':
      'Blood pressure 120 over 80, then 105 over 65.',
    'Two fifty over ten years, two fifty over nine hundred.': '2 50 over 10 years, 2 50 over 900.',
    'At three fifty degrees. A fever of one oh two point five.':
      'At 350 degrees. A fever of 102.5.',
    'Room three oh five, flight two oh six oh, five one twenty degrees.':
      'Room 305, flight 2 0 6 0, 5 1 20 degrees.',
    'two fifty-degrees, two oh five-degrees': '2 fifty-degrees, 2 oh five-degrees',
  }
  for (const [text, expected] of Object.entries(cases))
    assert.equal(written(text, 'digits'), expected)
})

test('style digits keeps the words after a number that a hyphen joins to it', () => {
  const cases = {
    'Two twenty-five-year-old sons and three twenty-one-year-olds.':
      'Two twenty-five-year-old sons and three twenty-one-year-olds.',
    'We met at eight thirty-ish.': 'We met at 8 thirty-ish.',
    'At eight thirty-minute breaks of the nineteen nineties-era.':
      'At eight thirty-minute breaks of the nineteen nineties-era.',
    'At eight thirty-minute': 'At 8 thirty-minute',
  }
  for (const [text, expected] of Object.entries(cases))
    assert.equal(written(text, 'digits'), expected)
})

test('style digits writes "one" in digits beside another number of a range', () => {
  const cases = {
    'from one to ten, three to one, one or two, between one and five':
      'from 1 to 10, 3 to 1, 1 or 2, between 1 and 5',
    'verses one through four, verses three through one': 'verses 1 through 4, verses 3 through 1',
    'two to one of them, one or the other': '2 to one of them, one or the other',
  }
  for (const [text, expected] of Object.entries(cases))
    assert.equal(written(text, 'digits'), expected)
})

test('style digits keeps pronouns, small ordinals and other languages', () => {
  const cases = ['No one knows one of us.', 'Wait a second, the third one.', 'a hundred times']
  cases.push('the two hundredth day', 'the nineties', 'a million and a half')
  cases.push('two thirds, three quarters and nine tenths', 'the two thousands')
  cases.push('five sixteenths, three twentieths, eleven twelfths', 'the twenty tens')
  for (const text of cases) assert.equal(written(text, 'digits'), text)
  assert.equal(written('twenty, five', 'digits'), '20, 5')
  assert.equal(written('one two', 'digits', 'fr'), 'one two')
})

test('a merged number spans its words, and split ones share their time', () => {
  const [spoken, digits] = [utterance('Say twenty five now'), utterance('Say 125 now')]
  assert.deepEqual(formatNumbers({ utterances: [spoken] }).utterances[0]!.words[1], {
    text: '25',
    start: 1,
    end: 3,
    confidence: 0.5,
  })
  const { words } = formatNumbers({ utterances: [digits] }, { style: 'words' }).utterances[0]!
  assert.deepEqual(
    words.map(({ text }) => text),
    ['Say', 'one', 'hundred', 'twenty-five', 'now'],
  )
  assert.deepEqual([words[1]!.start, words[3]!.end, words[3]!.confidence], [1, 2, 1])
  assert.ok(words.every(({ start, end }, i) => end > start && start === (words[i - 1]?.end ?? 0)))
})
