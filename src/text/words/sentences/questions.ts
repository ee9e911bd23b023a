const PRONOUN =
  '(?:[Ii]|you|he|she|it|we|they|this|that|these|those|there|(?:any|some|every)(?:one|body|thing))'
const NOUN = '(?:the|an?|my|your|his|her|our|their|its|any|some) '
const NAME = '\\p{Lu}\\p{Ll}+'
const SUBJECT = `(?:${PRONOUN}\\b|${NOUN}|${NAME}\\b)`

const AUXILIARY = "(?:(?:is|are|was|does|did|could|would|has)(?:n't)?|can(?:'t)?)"
const ANY_AUXILIARY = `(?:${AUXILIARY}|am|(?:do|have|had|were|should)(?:n't)?|will|won't|shall)`

/**
 * Words that may precede a question, some of them only with a comma: "so do I" and "now is the
 * time" are not questions.
 */
const LEAD_IN =
  /^(?:(?:and|but|or|well|okay|ok|oh|um|uh|er|hmm),? |(?:so|now|then|no|yes|yeah|hey|right|wait|sorry|hello|hi), |(?:so|now|then) (?=(?:wh|how)))+/

const MEASURE_WORD =
  '(?:many|much|long|old|often|far|big|large|fast|high|tall|late|early|soon|deep|hard)'
const KIND_OF_NOUN =
  "(?:(?:kind|sort|type) of [\\p{L}']+|time|day|date|year|month|colou?r|size|part|way|ones?|number|country|city|name|language)"

const QUESTIONS = [
  `(?:${AUXILIARY}) ${SUBJECT}`,
  `(?:will|won't) (?:${PRONOUN}\\b|${NOUN})`,
  `(?:do|don't|have|haven't) (?:[Ii]|you|we|they)\\b`,
  '(?:am|may|shall) (?:[Ii]|we)\\b',
  `(?:what|where|when|why|how|who|whom)(?: else| exactly)? ${ANY_AUXILIARY} ${SUBJECT}`,
  `(?:what|where|when|how|who)'s (?:${PRONOUN}\\b|${NOUN}|(?:going on|wrong|up|new|happening|next)\\b)`,
  `how ${MEASURE_WORD}(?: (?!${SUBJECT})[\\p{L}']+){0,3} ${ANY_AUXILIARY} ${SUBJECT}`,
  `(?:what|which) ${KIND_OF_NOUN} ${ANY_AUXILIARY} ${SUBJECT}`,
  `(?:what|which|whose) [\\p{L}']+ (?:do|does|did|would|should|can) ${PRONOUN}\\b`,
  'why not\\b|how come\\b|(?:how|what) about\\b|what if\\b|what happened$',
].map((pattern) => new RegExp(`^(?:${pattern})`, 'u'))

/**
 * Inversions that are a question only when no main clause follows: "Should you need help, call me".
 */
const CONDITIONAL = new RegExp(`^(?:were|weren't|should|shouldn't|had|hadn't) ${SUBJECT}`, 'u')
const MAIN_CLAUSE = /,|\b(?:would|could|might)\b/

/** Commands that have the form of a question. */
const COMMAND = /^don't you (?:dare|worry|ever|forget|even)\b/

const QUESTION_TAG =
  /, (?:(?:(?:is|are|was|were|do|does|did|can|could|will|would|have|has|should)n't|can't|won't|is|are|was|were|does|did|can|could|will|would|has) (?:i|you|he|she|it|we|they|there)|(?:do|have) (?:i|you|we|they))$/i

/**
 * Returns whether an English sentence is a question, by its first words (who or what, or a verb
 * before its subject) or a tag at its end (isn't it). The sentence comes without its final mark.
 * Tuned for few false alarms: it misses a question worded as a statement.
 */
export function asksInEnglish(sentence: string): boolean {
  const straightened = sentence.replaceAll('’', "'")
  if (QUESTION_TAG.test(straightened)) return true
  const lowered = straightened.slice(0, 1).toLowerCase() + straightened.slice(1)
  const clause = lowered.replace(LEAD_IN, '')
  if (COMMAND.test(clause)) return false
  if (CONDITIONAL.test(clause)) return !MAIN_CLAUSE.test(clause)
  return QUESTIONS.some((question) => question.test(clause))
}
