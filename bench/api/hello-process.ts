// The bare framework: what a response costs before we do anything.
import Fastify from 'fastify'

const http = Fastify()
http.get('/', async () => ({ hello: 'world' }))
process.send!({ url: await http.listen({ host: '127.0.0.1', port: 0 }) })
