import type { Entity } from './entity-types.ts'
import { matchPatterns, type Pattern } from './matching.ts'
import { amount } from './quantities.ts'

const unitOfTime = '(?:second|minute|hour|day|night|week|weekend|month|year|decade)s?'
const currency =
  '(?:dollars?|bucks|euros?|pounds(?: sterling)?|yen|francs|pesos|rupees|yuan|kroner|cents|pence|USD|EUR|GBP)'
const about = `(?:(?:a couple of|a few|several|half an?|a|an|${amount})(?: and a half)?)`
const dose =
  '(?:milligrams?|mg|micrograms?|mcg|grams?|millilit(?:er|re)s?|ml|tablets?|pills?|capsules?|units?|drops|puffs|teaspoons?|tablespoons?|cc)'

function pattern(type: Pattern['type'], source: string, flags = 'gi'): Pattern {
  return { type, pattern: new RegExp(source, flags), score: 0.95 }
}

const patterns: Pattern[] = [
  pattern(
    'MONEY',
    `[$€£¥]\\s?\\d+(?:,\\d{3})*(?:\\.\\d+)?(?:\\s?(?:hundred|thousand|million|billion|trillion|k|m|bn)\\b)?`,
  ),
  pattern('MONEY', `\\b(?:${amount}|a) ${currency}\\b(?:(?: and)? ${amount} (?:cents|pence)\\b)?`),
  pattern('STATISTICS', `(?<![\\w.])${amount}\\s?(?:%|(?:percent|per cent|percentage points?)\\b)`),
  pattern('AGE', `\\b${amount}[- ](?:years?|months?|weeks?|days?)[- ]olds?\\b`),
  pattern(
    'AGE',
    `\\b(?:aged|age of|age is|turn(?:ed|s|ing)|turned) (?<e>${amount})(?![\\w%-]|,?\\d| (?:percent|dollars|degrees|miles|minutes|hours|days|times))`,
  ),
  pattern(
    'AGE',
    `\\b(?:I'm|I am|he's|he is|she's|she is|is only|was only) (?<e>(?:\\d{1,2}|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:[- ](?:one|two|three|four|five|six|seven|eight|nine))?))(?=[.,?!]|$| and | now\\b)`,
  ),
  pattern(
    'AGE',
    `\\b(?:son|daughter|child|kid|baby|boy|girl|brother|sister|wife|husband|mother|father|mom|dad) (?:is|was|just turned) (?:now |only |almost )?(?<e>${amount})(?=[.,?!]|$| and | now\\b)`,
  ),
  pattern(
    'AGE',
    '\\bin (?:my|his|her|their) (?:early |mid |mid-|late )?(?<e>(?:twenties|thirties|forties|fifties|sixties|seventies|eighties|nineties|teens))\\b',
  ),
  pattern(
    'DURATION',
    `\\b(?:${amount}|half an?|a couple of|several|a few)(?: (?:more|business|working|full|whole))?[ -](?:half[ -])?${unitOfTime}(?: and (?:a half|${amount} ${unitOfTime}))?\\b(?! ?-?old)(?! later than)`,
  ),
  pattern('DOSE', `\\b(?:${about}|one|two) ?${dose}\\b(?! of (?:sugar|water|flour|milk|salt))`),
  pattern(
    'LOCATION_COORDINATE',
    '(?<![\\d.])-?\\d{1,3}\\.\\d{3,}°?(?: ?[NS])?,? (?:and )?-?\\d{1,3}\\.\\d{3,}°?(?: ?[EW]\\b)?',
  ),
  pattern(
    'LOCATION_COORDINATE',
    `\\b(?:latitude|longitude)(?: is| of|:)? (?<e>(?:minus )?${amount}(?: (?:degrees|point)[ \\w]{0,40}?(?:north|south|east|west))?)`,
  ),
  pattern(
    'PHYSICAL_ATTRIBUTE',
    `\\b(?:weighs?|weighed) (?<e>${amount} (?:pounds|kilos|kilograms|kg|stone))\\b`,
  ),
  pattern(
    'PHYSICAL_ATTRIBUTE',
    `\\b${amount} (?:feet|foot)(?: ${amount}(?: inch(?:es)?)?)?(?= tall\\b)`,
  ),
  pattern(
    'PHYSICAL_ATTRIBUTE',
    '\\b(?:blue|brown|green|hazel|gr[ae]y) eyes\\b|\\b(?:blond|blonde|brown|black|red|gr[ae]y|curly|dark) hair\\b|\\bleft-handed\\b',
  ),
  pattern('BLOOD_TYPE', '\\b(?:AB|A|B|O)[ -](?:positive|negative)\\b', 'g'),
  pattern(
    'BLOOD_TYPE',
    '\\bblood (?:type|group)(?: is|:)? (?<e>(?:AB|A|B|O)(?:[+−-]| ?(?:positive|negative|plus|minus))?)(?![\\w])',
    'g',
  ),
  pattern(
    'CORPORATE_ACTION',
    '\\b(?:mergers?|acquisitions?|initial public offering|stock split|share buyback|hostile takeover|spin-?off)\\b',
  ),
  pattern(
    'FINANCIAL_METRIC',
    '\\b(?:earnings per share|net income|gross margin|operating margin|EBITDA|return on equity|cash flow|price to earnings ratio)\\b',
  ),
  pattern(
    'PROJECT',
    '\\b(?:[Pp]roject (?:is )?(?:called|named|code-?named) (?<e>[A-Z][\\w-]+(?: [A-Z][\\w-]+)?))',
    'g',
  ),
  pattern('PROJECT', '\\b(?<=[a-z,] )Project (?<e>[A-Z][a-z]+)\\b', 'g'),
]

/** Money, percentages, ages, durations, doses and other amounts, in figures or words. */
export function findAmounts(text: string): Entity[] {
  return matchPatterns(text, patterns).filter(({ type, from, to }) => {
    return !(type === 'DURATION' && /^(?:one|a) (?:day|second|minute)$/i.test(text.slice(from, to)))
  })
}
