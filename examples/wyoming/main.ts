// Speech to text for Home Assistant and other clients of the Wyoming protocol.

import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { readOptions, runMain } from '../options.ts'
import { createWyomingServer } from './wyoming-server.ts'

const HELP = `node examples/wyoming/main.ts [options]

Speaks the Wyoming protocol, which Home Assistant uses, in front of a Steno server.

  --listen HOST:PORT  where clients connect; default: 127.0.0.1:10300
  --server URL        the Steno server; default: STENO_URL, else http://127.0.0.1:7070
  --key KEY           a key of it with the scopes read and live; default: STENO_KEY
  --language CODE     the language where a client names none; default: identified, if the server can
  --model NAME        the model where a client names none; default: that of the server
  --help              this text

The protocol has no password: listen on a network that you trust.`

await runMain(async () => {
  const names = ['language', 'model'] as const
  const { help, server, listen, values } = readOptions(process.argv.slice(2), {
    own: names,
    port: 10_300,
  })
  if (help) return console.log(HELP)
  const onError = (message: string) => console.error(message)
  const wyoming = createWyomingServer({ server, ...values, onError })
  wyoming.listen(listen)
  await once(wyoming, 'listening')
  const { address, port } = wyoming.address() as AddressInfo
  console.log(`Wyoming clients may connect to ${address} port ${port}`)
})
