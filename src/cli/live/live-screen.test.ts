import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import test from 'node:test'
import type { Output } from '../terminal/terminal.ts'
import { createLiveScreen } from './live-screen.ts'

const CLEAR = '\r\u001b[K'

function openScreen({
  isTTY = false,
  columns = 80,
  channels = 1,
  writesFinals = true,
  env = {} as Record<string, string>,
} = {}) {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const shown = isTTY ? { isTTY, columns } : {}
  const [out, err] = [Object.assign(stdout, shown), Object.assign(stderr, shown)] as Output[]
  const screen = createLiveScreen({ stdout: out!, stderr: err!, env }, { channels, writesFinals })
  return {
    screen,
    written: () => ({ stdout: String(stdout.read() ?? ''), stderr: String(stderr.read() ?? '') }),
  }
}

function printed(
  text: string,
  { id = '00_00000000', is_final = false, start = 65.2, channel = 0 } = {},
) {
  const utterance = {
    start,
    end: start + 1,
    channel,
    text,
    confidence: 1,
    words: [],
    language: 'en',
  }
  return { id, is_final, utterance }
}

test('without a terminal only the text of finals is written', () => {
  const { screen, written } = openScreen()
  screen.show(printed(' Good'))
  screen.show(printed(' Good morning.', { is_final: true }))
  screen.show(printed('', { is_final: true }))
  assert.deepEqual(written(), { stdout: 'Good morning.\n', stderr: '' })
})

test('a translation is shown after its final with its language', () => {
  const { screen, written } = openScreen()
  screen.show(printed(' Good morning.', { is_final: true }))
  const { utterance } = printed(' Bonjour\u0007.')
  screen.translated({
    utterance_id: '00_00000000',
    target_language: 'fr',
    translated_utterance: utterance,
  })
  assert.equal(written().stdout, 'Good morning.\n[fr] Bonjour?.\n')
})

test('on a terminal a partial is dim and overwritten, a final stays with its time', () => {
  const { screen, written } = openScreen({ isTTY: true })
  screen.show(printed(' Good'))
  assert.equal(written().stderr, `${CLEAR}\u001b[2m1:05  Good\u001b[22m`)
  screen.show(printed(' Good morning.', { is_final: true }))
  assert.deepEqual(written(), { stdout: '1:05  Good morning.\n', stderr: CLEAR + CLEAR })
})

test('without colors a partial is not dim', () => {
  const { screen, written } = openScreen({ isTTY: true, env: { NO_COLOR: '1' } })
  screen.show(printed(' Good'))
  assert.equal(written().stderr, `${CLEAR}1:05  Good`)
})

test('a partial that does not fit shows its last words', () => {
  const { screen, written } = openScreen({ isTTY: true, columns: 24 })
  screen.show(printed(' Four score and seven years ago'))
  assert.equal(written().stderr, `${CLEAR}\u001b[2m1:05  … seven years ago\u001b[22m`)
  screen.show(printed(' Hi', { start: 3605 }))
  assert.equal(written().stderr, `${CLEAR}\u001b[2m1:00:05  Hi\u001b[22m`)
})

test('with several channels each line names its own, and partials are redrawn', () => {
  const { screen, written } = openScreen({ isTTY: true, channels: 2 })
  screen.show(printed(' Good', { channel: 1, id: '01_00000000' }))
  screen.show(printed(' Hello'))
  written()
  screen.show(printed(' Hello.', { is_final: true }))
  assert.deepEqual(written(), {
    stdout: '1:05  Channel 1: Hello.\n',
    stderr: `${CLEAR}${CLEAR}\u001b[2m1:05  Channel 2: Good\u001b[22m`,
  })
})

test('session messages go to stderr, and control characters are replaced', () => {
  const { screen, written } = openScreen({ isTTY: true, writesFinals: false })
  screen.show(printed(' a\u001b[31mb'))
  screen.printLine('connection lost')
  screen.show(printed(' ab', { is_final: true }))
  const { stdout, stderr } = written()
  assert.ok(stderr.includes(`1:05  a?[31mb`))
  assert.ok(stderr.includes(`${CLEAR}connection lost\n${CLEAR}\u001b[2m1:05`))
  assert.equal(stdout, '')
})

test('control characters in session messages are replaced', () => {
  const { screen, written } = openScreen()
  screen.printLine('a\u001b[2J: refused\nof two lines')
  assert.equal(written().stderr, 'a?[2J: refused\nof two lines\n')
})
