// Transcripts of calls whose provider streams their sound, as Twilio does.

import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { readOptions, runMain, UsageError } from '../options.ts'
import { postEvents } from './post-events.ts'
import { type CallEvent, createTelephonyServer } from './stream-server.ts'

const HELP = `node examples/telephony/main.ts [options]

Takes media streams of calls, as Twilio sends them, and prints what is said as JSON lines.

  --listen HOST:PORT  where the provider, or a proxy with TLS, connects; default: 127.0.0.1:8080
  --server URL        the Steno server; default: STENO_URL, else http://127.0.0.1:7070
  --key KEY           a key of it with the scope live; default: STENO_KEY
  --language CODE     the language of the calls; default: identified, if the server can
  --model NAME        the model; default: that of the server
  --post URL          where each line is sent as well, as the JSON body of a POST
  --public-url URL    what the provider connects to, where it differs from wss:// and the header Host
  --help              this text

TWILIO_AUTH_TOKEN holds the secret of the account: with it, only streams that the provider has signed
are taken.`

await runMain(async () => {
  const names = ['language', 'model', 'post', 'public-url'] as const
  const { help, server, listen, values } = readOptions(process.argv.slice(2), {
    own: names,
    port: 8080,
  })
  if (help) return console.log(HELP)
  const { language, model, post: address, 'public-url': publicUrl } = values
  for (const url of [address, publicUrl]) {
    if (url !== undefined && !URL.canParse(url)) throw new UsageError(`This is no address: ${url}`)
  }
  const onError = (message: string) => console.error(message)
  const post = address === undefined ? undefined : postEvents(address, onError)
  const onEvent = (event: CallEvent) => {
    console.log(JSON.stringify(event))
    post?.(event)
  }
  const token = process.env.TWILIO_AUTH_TOKEN
  const telephony = createTelephonyServer({
    server,
    language,
    model,
    publicUrl,
    token,
    onEvent,
    onError,
  })
  telephony.listen(listen)
  await once(telephony, 'listening')
  const { address: host, port } = telephony.address() as AddressInfo
  console.error(`Media streams may connect to ${host} port ${port}`)
  if (!token) console.error('Without TWILIO_AUTH_TOKEN every stream is taken')
})
