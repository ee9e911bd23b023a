// A server of the bare framework, to measure the cost of a response without our code.
import Fastify from 'fastify'

const http = Fastify()
http.get('/', async () => ({ hello: 'world' }))
process.send!({ url: await http.listen({ host: '127.0.0.1', port: 0 }) })
