import type { Entity, EntityType } from '../entity-types.ts'
import { type EntityPattern, matchPatterns } from '../matching/matching.ts'
import type { WordToken } from '../matching/word-tokens.ts'
import { isOrdinaryWord } from './name-words.ts'

/**
 * Types by the ending of a word: stems of International Nonproprietary Names (WHO, "The use of
 * stems in the selection of INN", 2018) for drugs, Greek and Latin endings for illnesses and
 * treatments.
 */
const endings: { type: EntityType; ending: RegExp; not?: RegExp }[] = [
  {
    type: 'DRUG',
    ending:
      /\p{L}{3}(?:statin|pril|sartan|olol|oxacin|cillin|mycin|cycline|conazole|prazole|setron|triptan|dipine|gliptin|gliflozin|glutide|parin|xaban|zepam|zolam|zosin|lukast|thiazide|barbital|caine|tidine|profen|oxetine|tinib|zumab|ximab|limumab|kinumab|dronate|fibrate|levodopa|dopa|vudine|navir|tegravir|buvir|nidazole|cef\p{L}+|terol|sone|solone|asone|peridone|piprazole|tyline|pramine|mustine|rubicin|platin|taxel)$/u,
    not: /^(?:person\p{L}*|cosine|novocain|chili\p{L}*)$|(?:person|reason|season|prison|poison|unison|keystone|parson|mason|arson|crimson|garrison|comparison|caparison|venison|jettison|benison|damson|bison)e?$/u,
  },
  { type: 'DRUG', ending: /^(?:cef|ceph)\p{L}{5,}$/u },
  {
    type: 'CONDITION',
    ending:
      /\p{L}{3}(?:itis|emia|aemia|algia|opathy|penia|plegia|megaly|sclerosis|iasis|stenosis|thrombosis|fibrosis|cirrhosis|phobia|carcinoma|sarcoma|blastoma|lymphoma|rrhea|rrhoea|uria)$|^(?:cirrhosis|fibrosis|thrombosis|psychosis|neurosis|stenosis)$/u,
    not: /^(?:academia|bohemia|manuria|\p{L}*(?:home|tele|sym|em|anti|natur|oste)opathy|etruria|centuria|liguria|manchuria)$/u,
  },
  {
    type: 'MEDICAL_PROCESS',
    ending:
      /\p{L}{3}(?:ectomy|ostomy|oscopy|plasty|centesis|angiography|mammography)$|\p{L}{2}(?:otomy)$/u,
    not: /^(?:micr|spectr|strob|ster)oscopy$|dichotomy$|trichotomy$/u,
  },
]

/** An injury, as in a narrative: "broke her left arm", but not "broke the arm of the chair". */
const injury: EntityPattern = {
  type: 'INJURY',
  pattern:
    /\b(?:broken?|fractured|dislocated|sprained|injured|shattered|bruised|tore|torn|hurt) (?:my|your|his|her|our|their)(?: (?:left|right|lower|upper|big|little|index|middle|ring))*(?: (?:arm|leg|wrist|ankle|foot|hand|finger|thumb|toe|hip|knee|elbow|shoulder|nose|jaw|rib|neck|back|hamstring|calf|groin|tendon|ligament|collarbone|kneecap|tailbone|pelvis|femur|skull)s?| ACL| meniscus| rotator cuff| Achilles(?: tendon)?)\b(?! (?:doors?|sides?|yards?|seats?|windows?|gates?|fences?|rests?|packs?|traffic|lines?|season)\b)/giu,
  score: 0.8,
}

/** Finds injuries by what happened to which part of the body. */
export function findInjuries(text: string): Entity[] {
  return matchPatterns(text, [injury])
}

/** Finds drugs, illnesses and treatments that no list contains, by their typical endings. */
export function findMedical(tokens: readonly WordToken[]): Entity[] {
  return tokens.flatMap(({ lower, from, to }) => {
    if (lower.length < 7 || isOrdinaryWord(lower)) return []
    const found = endings.find(({ ending, not }) => ending.test(lower) && !not?.test(lower))
    return found ? [{ type: found.type, from, to, score: 0.7 }] : []
  })
}
