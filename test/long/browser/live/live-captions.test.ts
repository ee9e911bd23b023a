import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test, { type TestContext } from 'node:test'
import { createToneWav } from '../../../support/audio/recordings.ts'
import {
  checkPage,
  openBrowser,
  openPage,
  signIn,
  untilTrue,
  whyNoBrowser,
} from '../../../support/browser.ts'
import { call } from '../../../support/net/http-client.ts'
import { startServer } from '../../../support/server/start-server.ts'

const skip = whyNoBrowser() ?? false

type LiveJobs = { items: { request_params: { sample_rate: number } }[] }

/** Opens the live page of a server, in a browser with a microphone. */
async function openLivePage(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 'steno-microphone-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const microphone = join(folder, 'microphone.wav')
  writeFileSync(microphone, createToneWav(20))
  const server = await startServer()
  t.after(() => server.close())
  const browser = await openBrowser(t, { microphone })
  const opened = await openPage(browser, server.url, { permissions: ['microphone'] })
  const { page } = opened
  await signIn(page, server.key)
  await page.getByRole('link', { name: 'Live', exact: true }).click()
  await page.getByRole('button', { name: 'Start' }).waitFor()
  return { server, browser, ...opened }
}

test('captions of a microphone appear, and the session becomes a recording', {
  skip,
}, async (t) => {
  const { server, browser, page, problems } = await openLivePage(t)
  await page.getByRole('button', { name: 'Start' }).click()
  const captions = page.getByRole('log', { name: 'Captions' })
  await captions.getByText(/hello/).first().waitFor()
  await checkPage(page, 'live')

  // Others watch: a guest on a second screen by a link, and somebody of the account.
  await page.getByRole('button', { name: 'Create a link' }).click()
  const link = await page.getByLabel('The link, shown only once').inputValue()
  const guest = await openPage(browser, link)
  const screen = guest.page.getByRole('log', { name: 'Captions' })
  await screen.getByText(/hello/).first().waitFor()
  await checkPage(guest.page, 'captions-screen')
  const colleague = await openPage(browser, server.url)
  await signIn(colleague.page, server.key)
  await colleague.page.getByRole('link', { name: 'Live', exact: true }).click()
  const session = colleague.page.getByRole('link', { name: /^Watch the session of/ })
  await session.waitFor()
  await checkPage(colleague.page, 'sessions')
  await session.click()
  await colleague.page.getByRole('log').getByText(/hello/).first().waitFor()

  await page.getByRole('button', { name: 'Stop' }).click()
  for (const { page: watching } of [guest, colleague]) {
    await watching.locator('.utterance', { hasText: /hello/ }).first().waitFor()
  }
  await page.getByRole('link', { name: 'Open the transcript' }).click()
  await page.locator('.utterance', { hasText: /hello/ }).first().waitFor()
  await page.getByRole('link', { name: 'All recordings' }).click()
  await page
    .getByRole('row', { name: /Live session/ })
    .getByText('Done')
    .waitFor()
  assert.deepEqual([...problems, ...guest.problems, ...colleague.problems], [])
})

test('a session can be stopped while its connection is lost', { skip }, async (t) => {
  const { page, problems } = await openLivePage(t)
  let isAway = false
  let lose = () => {}
  await page.routeWebSocket(/token=/, (socket) => {
    if (isAway) {
      void socket.close({ code: 1012 })
      return
    }
    const server = socket.connectToServer()
    lose = () => {
      isAway = true
      void socket.close({ code: 1012 })
      void server.close({ code: 1012 })
    }
  })
  await page.reload()
  await page.getByRole('button', { name: 'Start' }).click()
  await page.getByRole('log', { name: 'Captions' }).getByText(/hello/).first().waitFor()
  lose()
  await page.getByText('The connection was lost').waitFor()
  await page.getByRole('button', { name: 'Stop' }).click()
  await page.getByText('Finishing the transcript').waitFor()
  isAway = false
  await page.getByRole('link', { name: 'Open the transcript' }).click()
  await page.locator('.utterance', { hasText: /hello/ }).first().waitFor()
  assert.deepEqual(problems, [])
})

test('a user need not wait for a server that does not finish a session', { skip }, async (t) => {
  const { page, problems } = await openLivePage(t)
  let held: (() => void)[] | undefined
  const pass = (send: () => void) => {
    if (held) held.push(send)
    else send()
  }
  await page.routeWebSocket(/token=/, (socket) => {
    const server = socket.connectToServer()
    socket.onMessage((message) => pass(() => server.send(message)))
    server.onMessage((message) => pass(() => socket.send(message)))
  })
  await page.clock.install()
  const content = `
    globalThis.sockets = []
    globalThis.WebSocket = class extends WebSocket {
      constructor(...given) {
        super(...given)
        sockets.push(this)
      }
    }`
  await page.addInitScript({ content })
  await page.reload()
  const stopAndWait = async () => {
    await page.getByRole('button', { name: 'Start' }).click()
    await page.getByRole('log', { name: 'Captions' }).getByText(/hello/).first().waitFor()
    held = []
    await page.getByRole('button', { name: 'Stop' }).click()
    await page.getByText('Finishing the transcript').waitFor()
    await page.clock.fastForward(31_000)
    await page.getByText('The server does not answer').waitFor()
  }
  // It answers after all.
  await stopAndWait()
  for (const send of held!.splice(0)) send()
  held = undefined
  const transcript = page.getByRole('link', { name: 'Open the transcript' })
  await transcript.waitFor()
  await page.clock.fastForward(31_000)
  assert.ok(await transcript.isVisible())

  await stopAndWait()
  await page.getByRole('button', { name: 'Stop waiting' }).click()
  await transcript.waitFor()
  // A message that was under way then.
  await page.evaluate(
    `sockets.at(-1).dispatchEvent(new MessageEvent('message', { data: '{"type":"end_session"}' }))`,
  )
  await transcript.click()
  await page.getByRole('heading', { name: 'Live session' }).waitFor()
  assert.deepEqual(problems, [])
})

test('a session that the server does not start can be tried again', { skip }, async (t) => {
  const { page, problems } = await openLivePage(t)
  await page.clock.install()
  await page.reload()
  const path = /v2\/live$/
  const silence = page.getByText('The server does not answer')
  // Neither the request for a session is answered …
  const created = page.waitForRequest(path)
  await page.route(path, () => {})
  await page.getByRole('button', { name: 'Start' }).press('Enter')
  await created
  await page.getByText('Starting…').waitFor()
  await page.clock.fastForward(31_000)
  await silence.waitFor()
  await page.unroute(path)
  // … nor the one for its connection.
  await page.evaluate(`
    globalThis.RealSocket = WebSocket
    globalThis.WebSocket = class { static OPEN = 1; close() {} }`)
  const answered = page.waitForResponse(path)
  const canceled = page.waitForResponse(/\/cancel$/)
  await page.getByRole('button', { name: 'Try again' }).press('Enter')
  await answered
  await page.getByText('Starting…').waitFor()
  await page.clock.fastForward(31_000)
  await silence.waitFor()
  await canceled
  await page.evaluate('globalThis.WebSocket = RealSocket')
  assert.equal(await page.evaluate('document.activeElement.textContent'), 'Try again')
  await page.keyboard.press('Enter')
  await page.getByRole('log', { name: 'Captions' }).getByText(/hello/).first().waitFor()
  assert.equal(await page.evaluate('document.activeElement.textContent'), 'Stop')
  // The time that it may take to start is over.
  await page.clock.fastForward(31_000)
  await page.getByText('Listening').waitFor()
  assert.deepEqual(problems, [])
})

test('the live page says in plain words why it gets no audio', { skip }, async (t) => {
  const server = await startServer()
  t.after(() => server.close())
  const browser = await openBrowser(t)
  const { page } = await openPage(browser, server.url)
  await signIn(page, server.key)
  await page.getByRole('link', { name: 'Live', exact: true }).click()
  const start = page.getByRole('button', { name: 'Start' })
  await start.click()
  await page.getByText('There is no microphone').waitFor()
  for (const name of ['NotReadableError', 'AbortError']) {
    await page.reload()
    await start.waitFor()
    await page.evaluate(`navigator.mediaDevices.getUserMedia = async () => {
      throw new DOMException('failed', '${name}')
    }`)
    await start.click()
    await page.getByText('The browser cannot read the audio of this device').waitFor()
  }
  // As browsers of phones.
  await page.evaluate('delete MediaDevices.prototype.getDisplayMedia')
  await page.getByLabel('Audio from').selectOption('Tab or screen')
  await start.click()
  await page.getByText('This browser cannot share the audio').waitFor()
})

test('a browser that does not process audio says so', { skip }, async (t) => {
  const { page } = await openLivePage(t)
  // As Firefox does without speakers.
  const content = `AudioContext.prototype.resume = () => {
    globalThis.isStarting = true
    return new Promise(() => {})
  }`
  await page.clock.install()
  await page.addInitScript({ content })
  await page.reload()
  await page.getByRole('button', { name: 'Start' }).click()
  await untilTrue(page, 'globalThis.isStarting')
  await page.clock.fastForward(10_000)
  await page.getByText('The browser does not process audio').waitFor()
})

test('a page that cannot be loaded completely releases the microphone', { skip }, async (t) => {
  const { page } = await openLivePage(t)
  // As if the script of the page were gone: Playwright does not see its request.
  await page.evaluate(`{
    AudioWorklet.prototype.addModule = async () => {
      throw new DOMException('failed', 'AbortError')
    }
    const { mediaDevices } = navigator
    const open = mediaDevices.getUserMedia.bind(mediaDevices)
    mediaDevices.getUserMedia = async (wanted) => {
      globalThis.microphone = await open(wanted)
      return globalThis.microphone
    }
  }`)
  await page.getByRole('button', { name: 'Start' }).click()
  await page.getByText('A part of this page could not be loaded').waitFor()
  const states = 'microphone.getTracks().map(({ readyState }) => readyState)'
  assert.deepEqual(await page.evaluate(states), ['ended'])
})

test('the browser asks before it leaves a page that listens', { skip }, async (t) => {
  const { page } = await openLivePage(t)
  await page.getByRole('button', { name: 'Start' }).click()
  const captions = page.getByRole('log', { name: 'Captions' })
  await captions.getByText(/hello/).first().waitFor()
  const asked = page.waitForEvent('dialog')
  void page.reload().catch(() => {})
  const dialog = await asked
  assert.equal(dialog.type(), 'beforeunload')
  await dialog.dismiss()
  await page.getByText('Listening').waitFor()
})

test('signing out ends the session of the page', { skip }, async (t) => {
  const { server, page, problems } = await openLivePage(t)
  await page.getByRole('button', { name: 'Start' }).click()
  await page.getByRole('log', { name: 'Captions' }).getByText(/hello/).first().waitFor()
  await page.getByRole('button', { name: 'Sign out' }).click()
  await page.getByLabel('API key').waitFor()
  await page.goto(`${server.url}/#/`)
  await signIn(page, server.key)
  await page
    .getByRole('row', { name: /Live session/ })
    .getByText('Done')
    .waitFor()
  assert.deepEqual(problems, [])
})

test('captions come from a browser that resamples no microphone', { skip }, async (t) => {
  const { server, page, problems } = await openLivePage(t)
  // As Firefox does, which also closes contexts with a delay, and each of them only once.
  const content = `
    const { prototype } = AudioContext
    const closed = new Set()
    prototype.close = async function () {
      if (closed.has(this)) throw new DOMException('twice', 'InvalidStateError')
      closed.add(this)
    }
    const create = prototype.createMediaStreamSource
    prototype.createMediaStreamSource = function (stream) {
      if (this.sampleRate !== 48000) throw new DOMException('rate', 'NotSupportedError')
      return create.call(this, stream)
    }`
  await page.addInitScript({ content })
  await page.reload()
  await page.getByRole('button', { name: 'Start' }).click()
  await page.getByRole('log', { name: 'Captions' }).getByText(/hello/).first().waitFor()
  await page.getByRole('button', { name: 'Stop' }).click()
  await page.getByRole('link', { name: 'Open the transcript' }).click()
  await page.locator('.utterance', { hasText: /hello/ }).first().waitFor()
  const { body } = await call<LiveJobs>(server, '/v2/live')
  assert.equal(body.items[0]!.request_params.sample_rate, 48_000)
  assert.deepEqual(problems, [])
})
