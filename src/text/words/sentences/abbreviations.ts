/**
 * Written with a full stop and never the end of a sentence: a name or a number follows. Lower case,
 * without the last stop.
 */
const OPEN: Record<string, string> = {
  en: 'mr mrs ms dr prof rev hon gen col maj capt lt sgt cmdr adm gov sen rep pres messrs mt ft vs cf e.g i.e eg ie approx est viz',
  de: 'hr fr dr prof z.b d.h u.a bzw ca vgl ggf evtl inkl zzgl sog st',
  fr: 'm mm mme mlle dr pr me p.ex cf env',
  es: 'sr sra srta dr dra ud uds d dña prof p.ej',
  it: 'sig sig.ra sigg dott dott.ssa prof avv ing on p.es',
  pt: 'sr sra dr dra prof exmo p.ex',
  nl: 'dhr mevr dr prof drs ir bijv d.w.z ca o.a',
}

/** Written with a full stop before a number, and a word of its own otherwise. */
const NUMBERED = new Set('no nos nr fig figs vol pp p ch sec art'.split(' '))

/** Closes a list or a company's name; a capital after it begins a new sentence. */
const CLOSING = new Set('inc ltd co corp etc bros'.split(' '))

/** Written with a full stop and sometimes the last word of a sentence: the next word decides. */
const EITHER = new Set(
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
 * How a sentence may continue after an abbreviation: `open` always, `numbered` before a number,
 * `hour` before a word that belongs to a time of day, `closing` before lower case, `either` before
 * all but a usual first word.
 */
export type Abbreviation = 'open' | 'numbered' | 'hour' | 'closing' | 'either'

const openIn = new Map(
  Object.entries(OPEN).map(([language, words]) => [language, new Set(words.split(' '))]),
)

/**
 * Returns the kind of abbreviation that a word with a final full stop is, if any. `core` keeps its
 * original case, without punctuation around it. Letters with stops between them (U.S) and single
 * capitals (J) are initials: `either`.
 */
export function abbreviationOf(core: string, language: string): Abbreviation | undefined {
  const folded = core.toLowerCase()
  if (openIn.get(language)?.has(folded)) return 'open'
  if (folded === 'a.m' || folded === 'p.m') return 'hour'
  if (NUMBERED.has(folded)) return 'numbered'
  if (CLOSING.has(folded)) return 'closing'
  if (EITHER.has(folded) || /^(\p{Lu}|\p{L}(\.\p{L})+)$/u.test(core)) return 'either'
  return undefined
}

/** Returns whether a word belongs to a time of day before it (5 p.m. Monday, 6 a.m. Eastern). */
export function followsHour(core: string): boolean {
  return AFTER_HOUR.has(core.toLowerCase())
}
