/**
 * Rules that convert letters to ARPAbet. At each letter, the first rule that matches applies; a
 * letter without a rule is silent.
 */
export type LetterRules = readonly (readonly [RegExp, string])[]

/** Reads one rule per line: a regular expression for letters, then the phones that replace them. */
function readRules(text: string): LetterRules {
  return text
    .trim()
    .split('\n')
    .map((line) => {
      const [letters = '', ...phones] = line.trim().split(' ')
      return [new RegExp(letters, 'uy'), phones.join(' ')] as const
    })
}

/**
 * Converts lower-case letters to the names of phones in ARPAbet, separated by spaces. Doubled
 * letters give one phone.
 */
export function applyLetterRules(letters: string, rules: LetterRules): string {
  const phones: string[] = []
  for (let at = 0; at < letters.length; ) {
    let length = 1
    for (const [expression, rulePhones] of rules) {
      expression.lastIndex = at
      const graphemes = expression.exec(letters)?.[0]
      if (!graphemes) continue
      length = graphemes.length
      if (rulePhones) phones.push(rulePhones)
      break
    }
    at += length
  }
  return phones.filter((rulePhones, i) => rulePhones !== phones[i - 1]).join(' ')
}

const SHARED_RULES = `
  b B
  d D
  f F
  k K
  l L
  m M
  p P
  r R
  t T`

/** Rules for English words that the dictionary lacks. */
export const ENGLISH_RULES = readRules(`
  ^(?:k(?=n)|g(?=n)|p(?=[nst][^h])|w(?=r)|m(?=n))
  ^x Z
  tion SH AH N
  sion ZH AH N
  cious SH AH S
  tious SH AH S
  ture$ CH ER
  ough AO
  augh AO
  eigh EY
  igh AY
  tch CH
  sch SH
  ch(?=[lr]) K
  ch CH
  ck K
  sh SH
  ph F
  th TH
  wh W
  gh(?=[aeiou]) G
  gh
  ng(?=[lr]) NG G
  ng NG
  nk NG K
  qu K W
  q K
  dge JH
  sc(?=[eiy]) S
  cc(?=[eiy]) K S
  c(?=[eiy]) S
  c K
  g(?=[eiy]) JH
  g G
  x K S
  j JH
  s$ Z
  s S
  z Z
  v V
  w(?=[aeiouy]) W
  h(?=[aeiouy]) HH
  y(?=[aeiou]) Y
  y$ IY
  y IH
  eer IH R
  air EH R
  are$ EH R
  ire$ AY R
  ore$ AO R
  ar AA R
  or AO R
  [eiu]r ER
  [ae][iy] EY
  e[ae] IY
  ie IY
  i(?=[ao]) IY
  o[iy] OY
  oo UW
  o[uw] AW
  oa OW
  e[uw] Y UW
  a[uw] AO
  a(?=[^aeiouwxy]e$) EY
  e(?=[^aeiouwxy]e$) IY
  i(?=[^aeiouwxy]e$) AY
  o(?=[^aeiouwxy]e$) OW
  u(?=[^aeiouwxy]e$) UW
  (?<=[^aeiou])e$
  a$ AH
  o$ OW
  i$ IY
  u$ UW
  a AE
  e EH
  i IH
  o AA
  u AH
  n N${SHARED_RULES}`)

/**
 * The letter rules by language. Those of languages other than English are coarse: they suffice to
 * compare a name with its pronunciation, not to read it aloud.
 */
export const LETTER_RULES: Readonly<Record<string, LetterRules>> = {
  en: ENGLISH_RULES,
  de: readRules(`
  sch SH
  tsch CH
  ch K
  ck K
  ph F
  pf P F
  qu K V
  st(?<=^st) SH T
  sp(?<=^sp) SH P
  ng NG
  ei AY
  ie IY
  (?:eu|äu) OY
  au AW
  aa AA
  ee EY
  oo OW
  er$ AH
  e$ AH
  a[h]? AA
  ä[h]? EH
  e[h]? EH
  i[h]? IH
  o[h]? OW
  ö[h]? ER
  u[h]? UH
  [üy][h]? UW
  ß S
  s(?=[aeiouäöü]) Z
  s S
  z T S
  tz T S
  c K
  v F
  w V
  j Y
  x K S
  g G
  h HH
  n N${SHARED_RULES}`),
  fr: readRules(`
  (?<=[^aeiou])e?s?$
  (?:eau|au) OW
  ou UW
  oi W AA
  (?:ai|ei) EH
  (?:eu|œu|œ) ER
  (?:an|en|am|em)(?![aeiouyn]) AA N
  (?:in|ain|un)(?![aeiouyn]) AE N
  on(?![aeiouyn]) AO N
  ill(?=[ae]) Y
  ch SH
  ph F
  qu K
  gn N Y
  gu(?=[ei]) G
  th T
  [tdpxsz]$
  er$ EY
  ez$ EY
  c(?=[eiyéè]) S
  ç S
  c K
  g(?=[eiyéè]) ZH
  g G
  j ZH
  é EY
  [èêë] EH
  [aàâ] AA
  e AH
  [iîïy] IY
  [oô] OW
  [uùûü] UW
  (?<=[aeiou])s(?=[aeiou]) Z
  ss S
  s S
  v V
  w W
  x K S
  z Z
  h
  n N${SHARED_RULES}`),
  es: readRules(`
  ch CH
  ll Y
  ñ N Y
  qu K
  gu(?=[ei]) G
  rr R
  c(?=[eiéí]) S
  c K
  z S
  g(?=[eiéí]) HH
  g G
  j HH
  h
  v B
  w W
  x K S
  s S
  y(?=[aeiou]) Y
  [aá] AA
  [eé] EH
  [iíy] IY
  [oó] OW
  [uúü] UW
  n N${SHARED_RULES}`),
  it: readRules(`
  gli L Y
  gn N Y
  sc(?=[ei]) SH
  ch K
  gh G
  ci(?=[aou]) CH
  gi(?=[aou]) JH
  c(?=[eiè]) CH
  c K
  g(?=[eiè]) JH
  qu K W
  g G
  zz T S
  z T S
  h
  s S
  v V
  j Y
  w V
  x K S
  [aà] AA
  [eèé] EH
  [iìy] IY
  [oò] OW
  [uù] UW
  n N${SHARED_RULES}`),
  pt: readRules(`
  ch SH
  lh L Y
  nh N Y
  qu(?=[ei]) K
  qu K W
  gu(?=[ei]) G
  ão AW N
  õe OY N
  ou OW
  ei EY
  rr HH
  ss S
  c(?=[eiéí]) S
  ç S
  c K
  g(?=[eiéí]) ZH
  g G
  j ZH
  x SH
  h
  s S
  v V
  w V
  z Z
  [aáâàã] AA
  [eéê] EH
  [iíy] IY
  [oóôõ] OW
  [uúü] UW
  n N${SHARED_RULES}`),
}
