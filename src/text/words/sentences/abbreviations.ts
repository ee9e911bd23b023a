/**
 * Abbreviations that never end a sentence, because a name or a number follows, by language. They
 * are in lower case, without the last full stop.
 */
const NEVER_FINAL: Record<string, string> = {
  en: 'mr mrs ms dr prof rev hon gen col maj capt lt sgt cmdr adm gov sen rep pres messrs mt ft vs cf e.g i.e eg ie approx est viz',
  de: 'hr fr dr prof z.b d.h u.a bzw ca vgl ggf evtl inkl zzgl sog st',
  fr: 'm mm mme mlle dr pr me p.ex cf env',
  es: 'sr sra srta dr dra ud uds d dña prof p.ej',
  it: 'sig sig.ra sigg dott dott.ssa prof avv ing on p.es',
  pt: 'sr sra dr dra prof exmo p.ex',
  nl: 'dhr mevr dr prof drs ir bijv d.w.z ca o.a',
}

/**
 * Abbreviations only before a number: "no. 5", but "no." elsewhere is a word that ends a sentence.
 */
const NUMBERED = new Set(
  'no nos nr fig figs vol vols pp pg pgs p ch chap chaps sec art para eq eqs tel ext apt rm ste ca'.split(
    ' ',
  ),
)

/** Names that end in an exclamation mark, by language. */
const EXCLAIMED: Record<string, RegExp> = {
  en: /^(?:Yahoo|Jeopardy|Joomla)$/,
}

/** Abbreviations at the end of a list or a company name; a capital after them begins a sentence. */
const LIST_END = new Set('inc ltd co corp etc bros'.split(' '))

/** Abbreviations that may end a sentence: the next word decides. */
const AMBIGUOUS = new Set(
  'jr sr st ave blvd rd dept univ al ph.d jan feb mar apr jun jul aug sep sept oct nov dec'.split(
    ' ',
  ),
)

/** Words with a capital that may follow a time of day in the same sentence. */
const AFTER_HOUR = new Set(
  (
    'monday tuesday wednesday thursday friday saturday sunday eastern pacific central mountain ' +
    'greenwich gmt utc est edt cst cdt mst mdt pst pdt bst cet cest'
  ).split(' '),
)

/**
 * Where a sentence continues after an abbreviation: `never-final` always, `numbered` before a
 * number, `hour` before a word that belongs to a time of day, `list-end` before lower case,
 * `ambiguous` before all words but those that usually begin a sentence.
 */
export type Abbreviation = 'never-final' | 'numbered' | 'hour' | 'list-end' | 'ambiguous'

const neverFinalByLanguage = new Map(
  Object.entries(NEVER_FINAL).map(([language, words]) => [language, new Set(words.split(' '))]),
)

/**
 * Returns the kind of abbreviation that a word with a final full stop is, if any. `core` keeps its
 * original case, without punctuation around it. Letters with stops between them (U.S) and single
 * capitals (J) are initials, which are `ambiguous`. The v of "Brown v. Board" is no initial.
 */
export function abbreviationOf(core: string, language: string): Abbreviation | undefined {
  const folded = core.toLowerCase()
  if (neverFinalByLanguage.get(language)?.has(folded)) return 'never-final'
  if (core === 'v' && language === 'en') return 'never-final'
  if (folded === 'a.m' || folded === 'p.m') return 'hour'
  // CA is California, and ends a sentence before a number.
  if (NUMBERED.has(folded) && core !== 'CA') return 'numbered'
  if (LIST_END.has(folded)) return 'list-end'
  if (AMBIGUOUS.has(folded) || /^(\p{Lu}|\p{L}(\.\p{L})+)$/u.test(core)) return 'ambiguous'
  return undefined
}

/** Returns whether a word is a name that ends in an exclamation mark (Yahoo!, Jeopardy!). */
export function isExclaimedName(core: string, language: string): boolean {
  return EXCLAIMED[language]?.test(core) ?? false
}

/** Returns whether a word belongs to a time of day before it (5 p.m. Monday, 6 a.m. Eastern). */
export function followsHour(core: string): boolean {
  return AFTER_HOUR.has(core.toLowerCase())
}
