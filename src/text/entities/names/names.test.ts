import assert from 'node:assert/strict'
import test from 'node:test'
import { findEntities } from '../find-entities.ts'

function found(text: string): string[] {
  return findEntities({ text }).map(({ type, from, to }) => `${type} ${text.slice(from, to)}`)
}

const cases: Record<string, string[]> = {
  'Tell Schwartz that we agreed.': ['NAME_FAMILY Schwartz'],
  'Put it on the Davidson file.': ['NAME_FAMILY Davidson'],
  'It is in the Schwartz Tower.': [],
  'We met in Schwartz.': [],
  'Ask Baker about it.': [],
  'I wrote to Łukasz.': ['NAME_GIVEN Łukasz'],
  'I grew up in Ann Arbor.': ['LOCATION_CITY Ann Arbor'],
  'Sarah-Jane is out.': ['NAME_GIVEN Sarah-Jane'],
  'Rose said it was fine.': ['NAME_GIVEN Rose'],
  'Rose petals are red.': [],
  'Grace, can you hear me?': ['NAME_GIVEN Grace'],
  'Grace, as it were, is rare.': [],
  'My cousin, Hope, came along.': ['NAME_GIVEN Hope'],
  'Hope is not a strategy.': [],
  "Let's talk about the Paris Agreement.": ['LOCATION_CITY Paris'],
  'What was the name? It should be under Papadopoulos.': ['NAME_FAMILY Papadopoulos'],
  'I need your last name. Could you spell it?': [],
  "Who's calling, please? Yes, this is Zyla.": ['NAME_GIVEN Zyla'],
  'okay so jenny said that jose can call mike back': ['NAME_GIVEN jenny', 'NAME_GIVEN mike'],
  'my name is jose ramirez': ['NAME jose ramirez'],
  'Then mike said so.': [],
  'My last name is Kowalski, K as in kilo, O for Oscar, W, A.': [
    ...['NAME_FAMILY Kowalski', 'NAME_FAMILY K as in kilo, O for Oscar, W, A'],
  ],
  'My name is spelled Featherstonehaugh, pronounced Fanshaw.': [
    'NAME_GIVEN Featherstonehaugh',
    'NAME_GIVEN Fanshaw',
  ],
  'My last name is spelled B E double N E double T.': ['NAME_FAMILY B E double N E double T'],
  'The first name is spelled L, E, N, A.': ['NAME_GIVEN L, E, N, A'],
  'Grades are A, B, C, D.': [],
  'Her last name is Oh, O H.': ['NAME_FAMILY Oh', 'NAME_FAMILY O H'],
  'The name was given, O K.': [],
  'my name is john smith': ['NAME john smith'],
  'my name is john and so on': ['NAME_GIVEN john'],
  'my name is will green and mark my words': ['NAME will green'],
  'So mr. wozniak, ms. park and mr. so came.': ['NAME_FAMILY wozniak', 'NAME_FAMILY park'],
  'It is John/Smith, or John—Smith.': ['NAME John/Smith', 'NAME John—Smith'],
  'My IBAN is gone, and the VIN is, too.': [],
  'Ask Vin about it.': ['NAME_GIVEN Vin'],
  'S***, I forgot it.': [],
  'Um, I think so. Hmm, what is it? Er, you are right. Erm, can you come?': [],
  'Prime Minister Rishi Sunak met Chancellor Merz and the minister.': [
    ...['NAME Rishi Sunak', 'NAME_FAMILY Merz'],
  ],
}
for (const [text, expected] of Object.entries(cases)) {
  test(`finds ${expected.join(', ') || 'no name'} in: ${text}`, () => {
    assert.deepEqual(found(text), expected)
  })
}
