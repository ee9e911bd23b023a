import { isFunctionWord } from '../../vocabulary/common-words.ts'
import { lexemesOf } from '../digits/spoken-digits.ts'
import type { Entity } from '../entity-types.ts'
import { type EntityPattern, matchPatterns, precedingText } from '../matching/matching.ts'
import { findMailParts } from './email-parts.ts'
import { findSecretAnswers, withSigns } from './secret-answers.ts'

const tld =
  '(?:com|org|net|io|edu|gov|mil|info|biz|co|uk|us|ca|de|fr|es|it|nl|ch|at|eu|au|jp|cn|in|br|se|no|dk|fi|pl|ru|me|tv|ai|app|dev|cloud|online|site|shop|blog|health|example|test)'
/** Top-level domains that are also everyday words. In speech, they must follow an address. */
const spokenTld =
  '(?:com|org|net|io|i o|edu|gov|info|biz|co|uk|us|ca|de|fr|es|nl|ch|eu|au|jp|cn|br|se|dk|fi|pl|ru|tv|ai|app|dev|cloud|example)'
const domain = `[\\p{L}\\d-]{1,63}(?:\\s{1,8}(?:dash|hyphen)\\s{1,8}[\\p{L}\\d]+){0,3}(?:(?:\\s{1,8}dot\\s{1,8}|\\.)[\\p{L}\\d-]+){0,4}?(?:\\s{1,8}dot\\s{1,8}|\\.)${spokenTld}(?:(?:\\s{1,8}dot\\s{1,8}|\\.)(?:uk|au|jp|br|com))?`
const spokenPath =
  '(?:,?\\s{1,8}(?:forward\\s{1,8})?slash\\s{1,8}[\\p{L}\\d-]+(?:\\s{1,8}(?:dot|dash|hyphen|underscore)\\s{1,8}[\\p{L}\\d-]+){0,8}){0,8}'
const octet = '(?:25[0-5]|2[0-4]\\d|1?\\d?\\d)'
const documentEnding =
  '(?:pdf|docx?|xlsx?|pptx?|txt|csv|zip|jpe?g|png|gif|mp3|mp4|wav|json|xml|html|exe|py|js|ts)'

const numberWord =
  '(?:zero|nought|naught|oh|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|seventeen|eighteen|nineteen|twenty|thirty|forty|fifty|sixty|seventy|eighty|ninety|hundred|and|\\d{1,3})'
const digit = '(?:zero|one|two|three|four|five|six|seven|eight|nine)'
/**
 * What may not follow a comma, because the sentence continues: "Enter your password, followed by
 * the pound key."
 */
const notAfterComma =
  '(?!(?<=, )(?:please|then|however|followed|sir|madam|press|which|when|if|so|but)\\b)'
/**
 * What does not follow the verb, because it says what happened to a password or a login: "was
 * changed by Bob", "was sent to you". With digits or signs after the word it is a password:
 * "changed 99".
 */
const notPastEvent = `(?!(?:(?!\\p{L}*eed)\\p{L}{3,}ed|sent|set|stolen|lost|forgotten|given|taken|written|shown|broken|known|hidden|kept|working|used|there|here|gone|fine|okay|ok)\\b(?!,? (?:\\d|${digit}|capital|upper|lower|all|underscore|dot|dash|hyphen|at sign|hash|dollar|exclamation|star)))`

/** What people think of a password: "My password is terrible, I never remember it." */
const notOpinion =
  '(?!(?:terrible|awful|horrible|bad|great|good|easy|simple|hard|difficult|complicated|ridiculous|stupid|silly|impossible|old|new|different)(?=[.,!?]|$| (?:and|to|but|for|so|because|enough|now|as|I|that)\\b))'

const patterns: EntityPattern[] = [
  {
    type: 'EMAIL_ADDRESS',
    pattern:
      /(?<![\p{L}\d._%+-])[\p{L}\d][\p{L}\d._%+-]{0,63}@[\p{L}\d-]{1,63}(?:\.[\p{L}\d-]+){1,8}/gu,
    score: 1,
  },
  { type: 'URL', pattern: /\bhttps?:\/\/[^\s<>"]*[^\s<>".,;:!?')]/gi, score: 1 },
  {
    type: 'URL',
    pattern: new RegExp(
      `(?<![@\\p{L}\\d.-])(?:www\\.)?[a-z\\d-]{1,63}(?:\\.[a-z\\d-]{1,63}){0,5}\\.${tld}(?![\\p{L}\\d@-])(?:/[^\\s<>"]*[^\\s<>".,;:!?')])?`,
      'giu',
    ),
    score: 0.95,
  },
  {
    type: 'URL',
    pattern: new RegExp(
      `(?<![@\\p{L}\\d.-])(?:https?\\s{1,8}colon\\s{1,8}slash\\s{1,8}slash\\s{1,8})?(?:(?:www|w w w|triple w)\\s{1,8}dot\\s{1,8})?${domain}(?![\\p{L}\\d@]|\\s{1,8}dot\\s{1,8}\\p{L})${spokenPath}`,
      'giu',
    ),
    score: 0.9,
  },
  {
    type: 'IP_ADDRESS',
    pattern: new RegExp(`(?<![\\d.])${octet}(?:\\.${octet}){3}(?!\\.?\\d)`, 'g'),
    score: 1,
  },
  {
    type: 'IP_ADDRESS',
    pattern:
      /(?<![\w:])(?:[\da-f]{1,4}:){7}[\da-f]{1,4}(?![\w:])|(?<![\w:])(?:[\da-f]{1,4}:){1,7}(?::[\da-f]{1,4}){1,7}(?![\w:])/gi,
    score: 1,
  },
  {
    type: 'FILENAME',
    pattern: new RegExp(
      `(?<![\\p{L}\\d./@])[\\p{L}\\d][\\p{L}\\d_-]{0,80}(?:\\.|\\s{1,8}dot\\s{1,8})${documentEnding}(?!\\p{L}|\\d|\\.\\p{L})`,
      'giu',
    ),
    score: 0.95,
  },
  {
    type: 'USERNAME',
    pattern: new RegExp(
      `\\b(?:user ?name|user id|login(?: name)?|log ?in name|screen name|handle|gamertag)(?: is| was|:|,| would be|'s)+ (?<e>${notAfterComma}${notPastEvent}(?:at (?=\\p{L}+ (?:underscore|dot|dash|\\d)))?(?!(?:not|the|a|an|my|your|wrong|taken|and|invalid|incorrect|already|required|available|unavailable|case|too|in|on|at (?:the|a|an|my|your|this|that|least|all|most|work|home|school|\\p{L}+ (?:height|level|temperature)|${numberWord})|different|unknown)\\b)(?:at [\\p{L}\\d_]+(?: (?!(?:and|or|is|the|of|on|in|for|from|but)\\b)[\\p{L}\\d_]+){0,2}(?=[.,;?!]|$| (?:and|on|but)\\b)|(?:(?!(?:and|or|is|the|with|at|to)\\b)\\p{L}+ ){1,3}(?:\\d+|${digit})\\b(?: (?:${digit}|\\d+)\\b)*|(?!at\\b)[\\p{L}\\d][\\p{L}\\d_.-]*[\\p{L}\\d](?: (?:underscore|dot|dash|hyphen) [\\p{L}\\d]+| (?:${digit}|\\d+)\\b)*))`,
      'giu',
    ),
    score: 0.9,
  },
  {
    type: 'USERNAME',
    pattern:
      /\b(?:(?:follow|find|tag|add|dm|message|reach|tweet) (?:me|us|him|her|them)|twitter|instagram|insta|tiktok|snapchat|telegram|discord|skype|github|reddit|threads|mastodon|twitch|bluesky)\b[^.?!]{0,40}?\b(?:at|as|is|it's) (?<e>[\p{L}\d]+(?: underscore [\p{L}\d]+){1,4}(?![\p{L}\d]| (?:at|dot) ))/giu,
    score: 0.9,
  },
  { type: 'USERNAME', pattern: /(?<![\p{L}\d.])(?<e>@[\p{L}\d_]{2,30})/gu, score: 0.9 },
  // Without a verb, what looks like nothing else: "Username jsmith, password Winter2024."
  {
    type: 'USERNAME',
    pattern:
      /\b(?:user ?name|user id|login),? (?<e>[\p{L}\d][\p{L}\d_.-]{1,40})(?=,? (?:and )?(?:the )?password,? (?=[\p{L}\d]{6})(?:\p{L}{1,40}\d|\d{1,40}\p{L}))/giu,
    score: 0.9,
  },
  {
    type: 'PASSWORD',
    pattern:
      /\bpass ?(?:word|phrase|code),? (?<e>(?=[\p{L}\d]{6})(?:\p{L}{1,40}\d|\d{1,40}\p{L})[\p{L}\d]{0,40})(?![\p{L}\d])/giu,
    score: 0.9,
  },
  {
    type: 'PASSWORD',
    pattern: new RegExp(
      `\\b(?:[Uu]se|[Ww]ith|[Ee]nter|[Tt]ry|[Tt]ype)(?: in)? (?:the |my |your |this )?password (?<e>(?=\\p{Lu}|\\p{L}*\\d)[\\p{L}\\d][^\\s.,;?]*(?: (?:${numberWord}|\\d+)\\b)*)`,
      'gu',
    ),
    score: 0.9,
  },
  {
    type: 'PASSWORD',
    pattern: new RegExp(
      `\\b(?:pass ?word|pass ?phrase|pass ?code|safe ?word|(?:memorable|security|secret) (?:word|place|name|answer|phrase))(?: (?:I'm|I am) giving you| (?:for|on) (?:the|your|my|this) [\\p{L}-]+)?(?: is going to be| will be| is| was| to|:|,| would be| should be|['’]s)+ (?<e>${notAfterComma}${notPastEvent}${notOpinion}(?!(?:going to|wrong|not|incorrect|too|very|on|in|the|a|an|my|your|expired|reset|required|correct|protected|safe|secure|weak|strong|case|at|now|still|also|invalid|being|and|please|that|it|this|about|what|something)\\b)(?:(?:(?!(?:and|or|is|the|with|at|to|for)\\b)\\p{L}+ ){1,4}(?=\\d|${digit}\\b))?[\\p{L}\\d][^\\s.,;?]*(?:,? (?:all one word|all caps|all (?:lower|upper) ?case|capital|upper ?case|lower ?case|underscore|dot|dash|hyphen|at sign|hash|dollar sign|exclamation (?:mark|point)|star|asterisk|${digit}|\\d+|\\p{L})\\b(?: (?<=(?:capital|case|underscore|dot|dash|hyphen) )[\\p{L}\\d]+)?)*)`,
      'giu',
    ),
    score: 0.9,
  },
]

/** A domain that its speaker explains: "thorn bury, one word, dot org". */
const oneWord = `[\\p{L}\\d-]{1,63}(?:\\s(?!at\\s)[\\p{L}\\d-]{1,63}){0,3},?\\s(?:that's\\s)?(?:all\\s)?one\\sword,?\\sdot\\s${spokenTld}(?:\\sdot\\s(?:uk|au|jp|br))?`
/** Recognizers also write "at" as "add". */
const spokenAt = new RegExp(
  `,?\\s{1,8}(?:at|add)\\s{1,8}(?:${domain}|${oneWord})(?![\\p{L}\\d@])`,
  'giu',
)
/** Addresses whose domain is unknown, or is a provider without its top-level domain. */
const otherAt =
  /[.,]?\s{1,8}(?:at|add)\s{1,8}(?:(?:gmail|g mail|googlemail|yahoo|hotmail|outlook|icloud|aol|proton ?mail|gmx|live|msn|comcast|verizon|fastmail)(?:\s{1,8}dot\s{1,8}\p{L}{2,12}){0,2}(?!\p{L})|(?:(?:\p{L} ){0,8}|(?:[\p{L}\d-]{2,40} ){1,3})[\p{L}\d-]{1,63}(?:\s{1,8}dot\s{1,8}\p{L}{2,12}(?!\p{L})){1,3})/giu
/** Words before "at" that are not part of an address: "look at …", "find us at …". */
const noAddress =
  /^(?:look|up|apply|register|join|shop|buy|listen|watch|subscribe|donate|us|me|it|you|online|available|found|visit|go|check|page|site|website|find|are|is|out|more|them|here|work|works|working|that|this|him|her|or|and|also|please|then|to)$/
const joints = new Set([
  'dot',
  'underscore',
  'dash',
  'hyphen',
  'plus',
  'minus',
  'period',
  '.',
  '_',
  '-',
])
const stops =
  /^(?:is|it|its|it's|that's|to|my|email|mail|(?:e?mail|address)['’]s|e-mail|address|the|and|at|me|us|him|her|as|that|or|um|uh|so|on|for|yes|yeah|okay|ok|sure|send|write|reach|with|by|be|contact|from|you|can|are|was|please|use|called|just|of)$/

/** Finds e-mail, web and network addresses, file names and credentials, written or read aloud. */
export function findOnline(text: string): Entity[] {
  const patterned = [...matchPatterns(text, patterns), ...findSecretAnswers(text)]
  return [
    ...patterned.map((entity) => withSigns(text, entity)),
    ...spokenMail(text),
    ...findMailParts(text),
    ...spokenIp(text),
  ]
}

function spokenMail(text: string): Entity[] {
  const spokenAts = [...text.matchAll(spokenAt)]
  const isClear = (match: RegExpExecArray) => /^,?\s+at/i.test(match[0])
  const uncertainAts = [...text.matchAll(otherAt), ...spokenAts.filter((match) => !isClear(match))]
  const otherAts = uncertainAts.filter(({ 0: part, index }) => {
    if (hasFunctionWord(part)) return false
    // "Jane dot doe. At gmail."
    const isAfterStop = part.startsWith('.')
    if (isAfterStop && !/^\s*(?:[.,?!]|$)/.test(text.slice(index + part.length))) return false
    return (
      mailCue.test(precedingText(text, index, 100)) ||
      joinedPart.test(precedingText(text, index, 60))
    )
  })
  return [...spokenAts.filter(isClear), ...otherAts].flatMap(({ 0: part, index }) => {
    const from = localPart(text, index)
    if (from === undefined) return []
    return [{ type: 'EMAIL_ADDRESS' as const, from, to: index + part.length, score: 0.95 }]
  })
}

/** Returns whether a domain of several words is other text: "at noon or see acme dot com". */
function hasFunctionWord(part: string): boolean {
  const [name = ''] = part.toLowerCase().split(/\sdot\s/)
  const [, ...words] = name.match(/\p{L}{2,}/gu) ?? []
  return words.some(isFunctionWord)
}

const mailCue = /\be-?mail\b/i
/** A part before "at" that contains a dot, an underscore, digits or spelled letters. */
const joinedPart =
  /(?:\b(?:dot|underscore|dash|hyphen) [\p{L}\d]+|\d|(?<!\p{L})\p{L}(?:[ ,-]{1,2}\p{L}){2})$/iu

/**
 * Returns where the part before "at" begins: words joined by "dot" and the like and, after the word
 * e-mail, also plain words.
 */
function localPart(text: string, end: number): number | undefined {
  const reach = Math.max(0, end - 120)
  const remainingLexemes = lexemesOf(text.slice(reach, end))
  const mail = mailCue.test(precedingText(text, end, 100))
  let at = remainingLexemes.length - 1
  if (
    at < 0 ||
    noAddress.test(remainingLexemes[at]!.lower) ||
    !/[\p{L}\d]$/u.test(text.slice(Math.max(0, end - 2), end))
  )
    return undefined
  while (at > 0) {
    const previous = remainingLexemes[at - 1]!
    if (joints.has(previous.lower) && at > 1 && !/^[.]$/.test(previous.lower))
      at -= remainingLexemes[at - 2]!.text === ',' && at > 2 ? 3 : 2
    else if (previous.text === ',' && joints.has(remainingLexemes[at - 2]?.lower ?? '') && at > 2)
      at -= 3
    else if (previous.text === '.' && previous.to === remainingLexemes[at]!.from && at > 1) at -= 2
    else if (
      previous.text === ',' &&
      at > 1 &&
      isPart(remainingLexemes[at]!.text) &&
      (isPart(remainingLexemes[at - 2]!.text) || joints.has(remainingLexemes[at - 3]?.lower ?? ''))
    )
      at -= 2
    else if (!/[\p{L}\d]/u.test(previous.text) || stops.test(previous.lower)) break
    else if (mail || isPart(previous.text) || isPart(remainingLexemes[at]!.text)) at -= 1
    else break
  }
  return reach + remainingLexemes[at]!.from
}

function isPart(word: string): boolean {
  return new RegExp(`^(?:\\p{L}|\\d+|double|triple|${numberWord})$`, 'iu').test(word)
}

const part = `${numberWord}(?:[\\s-]+${numberWord}){0,4}`
const dottedNumbers = new RegExp(
  `\\b${part}(?:,?\\s{1,8}(?:dot|point|period),?\\s{1,8}${part}){3}\\b`,
  'gi',
)

function spokenIp(text: string): Entity[] {
  return Array.from(text.matchAll(dottedNumbers), ({ 0: phrase, index }) => {
    return { type: 'IP_ADDRESS' as const, from: index, to: index + phrase.length, score: 0.95 }
  })
}
