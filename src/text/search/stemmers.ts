import { foldMarks } from './search-words.ts'

/** Reduces a word in lower case to the term under which it is indexed. */
export type ToTerm = (word: string) => string

type Stemmer = { stemmer(word: string): string }

/** Snowball's algorithms, by ISO 639-1 code. Words of other languages are indexed as they are. */
const modules: Readonly<Record<string, () => Promise<Stemmer>>> = {
  ar: () => import('@orama/stemmers/arabic'),
  bg: () => import('@orama/stemmers/bulgarian'),
  da: () => import('@orama/stemmers/danish'),
  de: () => import('@orama/stemmers/german'),
  el: () => import('@orama/stemmers/greek'),
  en: () => import('@orama/stemmers/english'),
  es: () => import('@orama/stemmers/spanish'),
  fi: () => import('@orama/stemmers/finnish'),
  fr: () => import('@orama/stemmers/french'),
  hu: () => import('@orama/stemmers/hungarian'),
  id: () => import('@orama/stemmers/indonesian'),
  it: () => import('@orama/stemmers/italian'),
  lt: () => import('@orama/stemmers/lithuanian'),
  nl: () => import('@orama/stemmers/dutch'),
  no: () => import('@orama/stemmers/norwegian'),
  pt: () => import('@orama/stemmers/portuguese'),
  ro: () => import('@orama/stemmers/romanian'),
  ru: () => import('@orama/stemmers/russian'),
  sv: () => import('@orama/stemmers/swedish'),
  tr: () => import('@orama/stemmers/turkish'),
  uk: () => import('@orama/stemmers/ukrainian'),
}

/** Terms that are cached for each language: most speech consists of a few thousand words. */
const MAX_REMEMBERED = 20_000

const loaded = new Map<string, Promise<ToTerm>>()

/** Returns the function that converts words of a language to terms. */
export function loadToTerm(language: string): Promise<ToTerm> {
  const stemmerLanguage = Object.hasOwn(modules, language) ? language : ''
  const loadedStemmer = loaded.get(stemmerLanguage)
  if (loadedStemmer) return loadedStemmer
  const loading = createToTerm(modules[stemmerLanguage])
  loaded.set(stemmerLanguage, loading)
  return loading
}

async function createToTerm(load: (() => Promise<Stemmer>) | undefined): Promise<ToTerm> {
  if (!load) return foldMarks
  const { stemmer } = await load()
  const remembered = new Map<string, string>()
  return (word) => {
    let term = remembered.get(word)
    if (term === undefined) {
      // The algorithms need the accents. Without letters, a stem would not be a term.
      term = foldMarks(stemmer(word)) || foldMarks(word)
      if (remembered.size >= MAX_REMEMBERED) remembered.clear()
      remembered.set(word, term)
    }
    return term
  }
}
