import type { Entity } from '../entity-types.ts'
import { type EntityPattern, matchPatterns, precedingText } from '../matching/matching.ts'
import { amount } from './quantities.ts'
import { withRange } from './ranges.ts'

const unitOfTime = '(?:second|minute|hour|day|night|week|weekend|month|year|decade)s?'
const currency =
  '(?:dollars?|bucks|quid|grand|euros?|pounds(?: sterling)?|yen|francs|pesos|rupees|yuan|kroner|cents|pence|USD|EUR|GBP)'
const approximate = `(?:(?:a couple of|a few|several|half an?|a|an|${amount})(?: and a half)?)`
const dose =
  '(?:milligrams?|mg|micrograms?|mcg|grams?|millilit(?:er|re)s?|ml|tablets?|pills?|capsules?|units?|drops|puffs|teaspoons?|tablespoons?|cc)'

const digit = '(?:one|two|three|four|five|six|seven|eight|nine)'
const tens = `(?:ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:[- ]${digit})?)`
const dollars = `(?:(?:${digit} (?:hundred (?:and )?)?)?(?:${tens}|${digit}))`

function amountPattern(type: EntityPattern['type'], source: string, flags = 'gi'): EntityPattern {
  return { type, pattern: new RegExp(source, flags), score: 0.95 }
}

const patterns: EntityPattern[] = [
  amountPattern(
    'MONEY',
    `[$€£¥]\\s?\\d+(?:,\\d{3})*(?:\\.\\d+)?(?:\\s?(?:hundred|thousand|million|billion|trillion|k|m|bn)\\b)?`,
  ),
  amountPattern(
    'MONEY',
    `\\b(?:${amount}|a) ${currency}\\b(?:(?: and)? ${amount} (?:cents|pence)\\b| (?:${tens}|\\d\\d)(?=[.,?!]|$| (?:each|for)\\b))?`,
  ),
  // "Nineteen ninety-nine a month": dollars and cents whose units are not said.
  amountPattern(
    'MONEY',
    `\\b${dollars} (?:oh ${digit}|${tens})(?= (?:a|per|each|every) (?:month|year|week|night|person|token|share|seat|user)|,? (?:plus|including|before|after) (?:tax|taxes|shipping|tip|fees)|,? (?:each|per month|monthly|in total|total)\\b)`,
  ),
  amountPattern(
    'MONEY',
    `\\b(?:charged (?:me|us|him|her|them|you)|costs?(?: me| us)?|cost is|price (?:is|was)|paid|pay|total (?:is|was|comes to|of)|that'll be|that will be|fee (?:is|of)|bill (?:is|was)) (?:only |about |around |just )?(?<e>${dollars} (?:oh ${digit}|${tens}))\\b(?! ${digit}\\b| (?:percent|people|times))`,
  ),
  amountPattern(
    'STATISTICS',
    `(?<![\\w.])${amount}\\s?(?:%|(?:percent|per cent|percentage points?)\\b)`,
  ),
  amountPattern('AGE', `\\b${amount}[- ](?:years?|months?|weeks?|days?)[- ]olds?\\b`),
  amountPattern(
    'AGE',
    `\\b(?:aged|at age|age of|age is|(?:your|his|her|my|the) age[.?,]|(?<=^|[.?!] )(?:And )?[Aa]ge[?.,]|turn(?:ed|s|ing)|(?:I|you|we|they)(?:[’']ll)? turn|will turn) (?:uh,? |um,? |I'm |it's )?(?<e>${amount})(?![\\w%-]|,?\\d| (?:percent|dollars|degrees|miles|minutes|hours|days|times|people|pages|corners|points))`,
  ),
  amountPattern(
    'AGE',
    `\\b(?:I'm|I am|he's|he is|she's|she is|is only|was only|(?:I|he|she)(?:'ll| will) be) (?<e>(?:\\d{1,2}|(?:twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety)(?:[- ](?:one|two|three|four|five|six|seven|eight|nine))?))(?=[.,?!]|$| and | now\\b| next (?:week|month|year)\\b| in (?:January|February|March|April|May|June|July|August|September|October|November|December)\\b)`,
  ),
  amountPattern(
    'AGE',
    `\\b(?:who|son|daughter|child|kid|baby|boy|girl|brother|sister|wife|husband|mother|father|mom|dad)(?:'s| is| was| just turned) (?:now |only |almost )?(?<e>${amount})(?=[.,?!]|$| and | now\\b)`,
  ),
  amountPattern(
    'MONEY',
    `\\b(?:rent|salary|mortgage|payments?|premium|deductible|co-?pay|fee|price|bill|balance|budget|deposit|refund|invoice) (?:is|was|of|went up to|will be|would be|comes to) (?:only |about |around |just )?(?<e>${amount})(?![\\w%-]|,?\\d| (?:percent|days?|weeks?|months?|years?|hours?|minutes?|people|times|to|or|in))`,
  ),
  amountPattern(
    'MARITAL_STATUS',
    "\\b(?:I'm|I am|he's|he is|she's|she is|they're|status(?: is)?|(?:brother|sister|son|daughter|mother|father|mom|dad|friend) is)(?: currently| still| recently| now)? (?<e>single|engaged|separated)(?=[.,?!]|$| (?:and|but|now|again)\\b)",
  ),
  amountPattern(
    'AGE',
    `\\b(?:when|since|until|before|after) (?:I|you|he|she|we|they) (?:was|were|turned) (?:only |just |about |almost )?(?<e>${amount})(?=[.,?!]|$| (?:and|or|when|but|I|he|she)\\b)`,
  ),
  amountPattern(
    'AGE',
    `\\bhow old (?:are|is|was) [\\w' ]{2,25}\\?(?: (?:uh|um|well|she's|he's|I'm|I am|he is|she is|it's|about|just|almost|turned),?){0,3} (?<e>${amount})(?![\\w%-]|,?\\d)`,
  ),
  amountPattern(
    'AGE',
    '\\bin (?:my|his|her|their) (?:early |mid |mid-|late )?(?<e>(?:twenties|thirties|forties|fifties|sixties|seventies|eighties|nineties|teens))\\b',
  ),
  amountPattern(
    'DURATION',
    `\\b(?:${amount}|half an?|a couple of|several|a few)(?: (?:more|business|working|full|whole))?[ -](?:half[ -])?${unitOfTime}(?: and (?:a half|${amount} ${unitOfTime}))?\\b(?! ?-?old)(?! later than)`,
  ),
  amountPattern(
    'DOSE',
    `\\b(?:${approximate}|one|two) ?${dose}\\b(?! of (?:sugar|water|flour|milk|salt))`,
  ),
  amountPattern(
    'LOCATION_COORDINATE',
    '(?<![\\d.])-?\\d{1,3}\\.\\d{3,}°?(?: ?[NS])?,? (?:and )?-?\\d{1,3}\\.\\d{3,}°?(?: ?[EW]\\b)?',
  ),
  amountPattern(
    'LOCATION_COORDINATE',
    `\\b(?:latitude|longitude)(?: is| of|:)? (?<e>(?:(?:minus|negative) )?${amount}\\b(?: (?:degrees|point)[ \\w]{0,40}?(?:north|south|east|west))?)`,
  ),
  amountPattern(
    'PHYSICAL_ATTRIBUTE',
    `\\b(?:weighs?|weighed) (?<e>(?:${amount} (?:to|or) )?${amount} (?:pounds|kilos|kilograms|kg|stone))\\b`,
  ),
  amountPattern(
    'PHYSICAL_ATTRIBUTE',
    `\\b${amount} (?:feet|foot)(?: ${amount}(?: inch(?:es)?)?)?(?= tall\\b)`,
  ),
  amountPattern(
    'PHYSICAL_ATTRIBUTE',
    `\\b(?:I'm|I am|he's|he is|she's|she is|height is|stands) (?<e>${amount} (?:feet|foot) ${amount})(?=[.,?!]|$| and\\b)`,
  ),
  amountPattern(
    'PHYSICAL_ATTRIBUTE',
    '\\b(?:blue|brown|green|hazel|gr[ae]y) eyes\\b|\\b(?:blond|blonde|brown|black|red|gr[ae]y|curly|dark) hair\\b|\\bleft-handed\\b',
  ),
  amountPattern('BLOOD_TYPE', '\\b(?:AB|A|B|O)[ -](?:positive|negative)\\b', 'g'),
  amountPattern(
    'BLOOD_TYPE',
    '\\bblood (?:type|group)(?: is|:)? (?<e>(?:AB|A|B|O)(?:[+−-]| ?(?:positive|negative|plus|minus))?)(?![\\w])',
    'g',
  ),
  amountPattern(
    'CORPORATE_ACTION',
    '\\b(?:mergers?|acquisitions?|initial public offering|stock split|share buyback|hostile takeover|spin-?off)\\b',
  ),
  amountPattern(
    'FINANCIAL_METRIC',
    '\\b(?:earnings per share|net income|gross margin|operating margin|EBITDA|return on equity|cash flow|price to earnings ratio)\\b',
  ),
  amountPattern(
    'PROJECT',
    '\\b(?:[Pp]roject (?:is )?(?:called|named|code-?named) (?<e>[A-Z][\\w-]+(?: [A-Z][\\w-]+)?))',
    'g',
  ),
  amountPattern('PROJECT', '\\b(?<=[a-z,] )Project (?<e>[A-Z][a-z]+)\\b', 'g'),
]

/** The rest of a weight: five pounds six ounces. */
const ounces = new RegExp(`^,? (?:and )?${amount} ounces?\\b`, 'i')
/** What an ordinal such as "forty-second" counts, and a duration does not last. */
const counted =
  /^ (?:street|avenue|st|ave|floor|birthday|anniversary|president|century|congress|amendment|division|parallel|edition|state|time|place|percentile|minute)\b/i

/**
 * Finds money, percentages, ages, durations, doses and other quantities, and ranges of them, in
 * digits or words.
 */
export function findAmounts(text: string): Entity[] {
  const amounts = matchPatterns(text, patterns).map((entity) => withRange(text, entity))
  return amounts.filter(({ type, from, to }) => {
    const weight =
      /pounds$/.test(text.slice(from, to)) &&
      /\b(?:weigh\w*|lost|gained|lift\w*) (?:about |only |over )?$/i.test(precedingText(text, from))
    const textAfter = text.slice(to, to + 40)
    const isWeight = weight || (/pounds$/.test(text.slice(from, to)) && ounces.test(textAfter))
    if (type === 'MONEY' && isWeight) return false
    // On the forty-second floor, not in a forty-second break or a sixty-second time limit.
    if (/^(?!an? ).*[a-z][ -]second$/i.test(text.slice(from, to)) && counted.test(textAfter)) {
      return type !== 'DURATION'
    }
    // Thousands of units are a quantity of goods, not a dose.
    if (type === 'DOSE' && /,\d{3}.* units?$/.test(text.slice(from, to))) return false
    return !(type === 'DURATION' && /^(?:one|a) (?:day|second|minute)$/i.test(text.slice(from, to)))
  })
}
