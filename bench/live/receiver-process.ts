// A process that receives callbacks: it responds with 204 to each, and returns their number at
// `/received`. Sends its address when it listens.
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

let received = 0

const server = createServer((request, response) => {
  if (request.url === '/received') {
    response.end(JSON.stringify({ received }))
    return
  }
  request.resume().once('end', () => {
    received++
    response.writeHead(204).end()
  })
})
server.listen(0, '127.0.0.1', () => {
  process.send!({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` })
})
process.once('disconnect', () => process.exit())
