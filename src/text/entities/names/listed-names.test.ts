import assert from 'node:assert/strict'
import test from 'node:test'
import { findEntities } from '../find-entities.ts'

function found(text: string): string[] {
  return findEntities({ text }).map(({ type, from, to }) => `${type} ${text.slice(from, to)}`)
}

const cases: Record<string, string[]> = {
  'We moved to Kraków.': ['LOCATION_CITY Kraków'],
  'she lives in denver now': ['LOCATION_CITY denver'],
  'she had turkey and apple pie': [],
  'He is from Zzyzx, California.': ['LOCATION_CITY Zzyzx', 'LOCATION_STATE California'],
  'Well, Virginia is far.': ['LOCATION_STATE Virginia'],
  'I live in Hamilton.': ['LOCATION_CITY Hamilton'],
  'She flew to Madison.': ['LOCATION_CITY Madison'],
  'She is from Jackson.': ['LOCATION_CITY Jackson'],
  'She read in Jackson Daily.': [],
  'We camped at Lake Quinalt.': ['LOCATION Lake Quinalt'],
  'My father has Parkinson’s.': ['CONDITION Parkinson'],
  'Who told the WHO?': ['ORGANIZATION the WHO'],
  'Apple announced it.': ['ORGANIZATION Apple'],
  'Apple pie is good.': [],
  'Excel at what you do.': [],
  'I cook, and she is a cook.': ['OCCUPATION cook'],
  'The patient is a 40-year-old male.': ['AGE 40-year-old', 'GENDER male'],
  'He takes cefuroxime and lovastatin.': ['DRUG cefuroxime', 'DRUG lovastatin'],
  'It was pericarditis, in all sympathy and academia.': ['CONDITION pericarditis'],
  'After the cystoscopy we used microscopy.': ['MEDICAL_PROCESS cystoscopy'],
}
for (const [text, expected] of Object.entries(cases)) {
  test(`finds ${expected.join(', ') || 'no listed name'} in: ${text}`, () => {
    assert.deepEqual(found(text), expected)
  })
}
