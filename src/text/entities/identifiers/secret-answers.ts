import type { Entity } from '../entity-types.ts'
import { type EntityPattern, matchPatterns } from '../matching/matching.ts'
import { isOrdinaryWord } from '../names/name-words.ts'

const number =
  '(?:zero|nought|oh|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|\\d{1,8})'
const fillers =
  "(?:(?:yes|yeah|yep|sure|oh|uh|um|well|okay|it's|it is|it was|that's|that is|that would be)[,.]? ){0,4}"
/** What people say instead of an answer. */
const noAnswer =
  '(?!(?:I|no|not|nope|what|which|who|why|how|the|yes|yeah|yep|sure|okay|ok|oh|uh|um|mm|mhm|hmm|well|so|right|correct|great|perfect|got|of course|it|that|you|we|they|sorry|thanks|thank|let|hold|hang|wait|give|just|actually|maybe|never|none|nothing|can|could|do|did|does|will|one (?:moment|second))\\b)'
/** After a comma, these begin a remark: "Biscuit, but that was long ago". */
const noRemark =
  '(?!(?:I|he|she|we|you|it|but|that|with|like|and|or|if|as|is|the|my|please|thanks)\\b)'
const word = "[\\p{L}\\d]+(?:['’]\\p{L}+)?"
const secret = [
  'pass ?(?:word|phrase|code)',
  '(?:memorable|safe|security|secret) (?:word|place|name|answer|phrase|person|information|question)',
  'answer to (?:your|the|that) (?:(?:secret|security) )?question',
  'name of your (?:first|childhood) (?:pet|cat|dog|school|teacher)',
  "(?:first|childhood) pet['’]s name",
].join('|')
const details =
  '(?: (?:do|did) you (?:use|set|choose|have|try))?(?: (?:on|for) (?:the|your|this) \\p{L}+)?(?:,? (?:again|please)){0,2}'

const answers: EntityPattern[] = [
  {
    type: 'PASSWORD',
    pattern: new RegExp(
      `\\b(?:${secret})${details}\\? ${fillers}(?<e>${noAnswer}${word}(?:(?:[ -]|, ${noRemark})${word}){0,6}(?=[.!]|$)|${noAnswer}${word}(?:[ -]${word}){0,3}(?=,))`,
      'giu',
    ),
    score: 0.8,
  },
]
const userNames: EntityPattern[] = [
  {
    type: 'USERNAME',
    pattern: new RegExp(
      `\\b(?:user ?name|user id|log ?in (?:name|id))${details}\\? ${fillers}(?<e>${noAnswer}[\\p{L}\\d][\\p{L}\\d_.-]{2,40}(?:,? ${number}\\b)*)(?=[.,!]|$)`,
      'giu',
    ),
    score: 0.8,
  },
]

/** Finds passwords, user names and the like that answer a question: "Your memorable place?" */
export function findSecretAnswers(text: string): Entity[] {
  const names = matchPatterns(text, userNames).filter(({ from, to }) => {
    return !isOrdinaryWord(text.slice(from, to).toLowerCase())
  })
  return [...matchPatterns(text, answers), ...names]
}

const numbers = `${number}(?:,? ${number})*(?=[.,!?]|$)`
const sign =
  '(?:(?:all )?one word|all caps|all capitals|all (?:in )?(?:lower|upper) ?case|underscore|dot|dash|hyphen|at sign|hash|hashtag|dollar sign|pound sign|percent sign|ampersand|exclamation (?:mark|point)|question mark|full stop|star|asterisk)(?!\\p{L})'
const letter =
  '(?:capital|upper ?case|lower ?case|small|big) (?:letter )?[\\p{L}\\d](?![\\p{L}\\d])'
const lead = '(?:(?:and then|and|then|followed by|with) )?(?:an? |the )?'
/** The signs after the word of a password: ", capital T, then nine nine, exclamation mark". */
const signs = new RegExp(`^(?:[,.]? ${lead}(?:${sign}|${letter}|${numbers}))+`, 'iu')

/** Extends a password to the signs and digits after it. */
export function withSigns(text: string, entity: Entity): Entity {
  if (entity.type !== 'PASSWORD') return entity
  const [after = ''] = signs.exec(text.slice(entity.to, entity.to + 160)) ?? []
  return { ...entity, to: entity.to + after.length }
}
