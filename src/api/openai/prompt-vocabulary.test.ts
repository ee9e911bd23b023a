import assert from 'node:assert/strict'
import test from 'node:test'
import { vocabularyFromPrompt } from './prompt-vocabulary.ts'

test('a prompt that is a list of short items becomes the vocabulary unchanged', () => {
  assert.deepEqual(vocabularyFromPrompt('ZyntriQix, Digique Plus,CynapseFive; omeprazole'), [
    'ZyntriQix',
    'Digique Plus',
    'CynapseFive',
    'omeprazole',
  ])
  assert.deepEqual(vocabularyFromPrompt('Kubernetes\nHelm\nHelm\n'), ['Kubernetes', 'Helm'])
  assert.deepEqual(vocabularyFromPrompt(''), [])
  assert.deepEqual(vocabularyFromPrompt(' , ;\n--'), [])
})

test('words with capitals or digits are taken from sentences, except common first words', () => {
  const prompt =
    'The talk is about OpenAI, which makes DALL·E, GPT-3 and the (Sora) model. We thank Ada Quell for it.'
  assert.deepEqual(vocabularyFromPrompt(prompt), ['OpenAI', 'DALL·E', 'GPT-3', 'Sora', 'Ada Quell'])
  assert.deepEqual(vocabularyFromPrompt('So, welcome to my lecture.'), [])
  assert.deepEqual(vocabularyFromPrompt('iPhone sales were fine.'), ['iPhone'])
})

test('the vocabulary of a long prompt is limited', () => {
  const words = Array.from({ length: 300 }, (_, i) => `Name${i}`).join(', ')
  assert.equal(vocabularyFromPrompt(words).length, 100)
  assert.deepEqual(vocabularyFromPrompt('X'.repeat(200)), [])
})
