import assert from 'node:assert/strict'
import test from 'node:test'
import { parseArguments, UsageError } from './arguments.ts'

const options = {
  name: { type: 'string', short: 'n' },
  quiet: { type: 'boolean' },
  tag: { type: 'string', multiple: true },
} as const

test('a single-value option given twice is rejected in any notation', () => {
  for (const args of ['--name a --name b', '-n a --name=b', '-na -n a']) {
    const parse = () => parseArguments(args.split(' '), options)
    assert.throws(parse, { name: 'UsageError', message: /^--name takes one value/ }, args)
  }
})

test('flags and lists may be repeated, and arguments after -- are not options', () => {
  const args = '--quiet --quiet --tag a --tag b --name c -- --name d'.split(' ')
  const { values, positionals } = parseArguments(args, options)
  assert.deepEqual({ ...values }, { quiet: true, tag: ['a', 'b'], name: 'c' })
  assert.deepEqual(positionals, ['--name', 'd'])
})

test('an unknown option is rejected with the known ones', () => {
  const refusal = /^UsageError: Unknown option '--nam' \(options: --name, --quiet, --tag\)$/
  assert.throws(() => parseArguments(['--nam'], options), refusal)
  assert.throws(() => parseArguments(['--name'], options), UsageError)
  assert.throws(() => parseArguments(['--nam'], {}), /^UsageError: Unknown option '--nam'$/)
})

test('an empty argument is rejected', () => {
  const refusal = { name: 'UsageError', message: 'An argument is empty' }
  assert.throws(() => parseArguments(['show', ''], options), refusal)
})
