// A faulty S3 server in a process of its own: `HOST TARGET`. Sends its endpoint, then takes faults.
import { type S3Fault, startFaultyS3 } from '../storage/objects/faulty-s3.ts'

const [host, target] = process.argv.slice(2)
const proxy = await startFaultyS3({ after: () => {} }, target!, host)
process.on('message', (message) => {
  const { fault, share } = message as { fault: S3Fault; share?: number }
  proxy.disturb(fault, share)
})
process.on('disconnect', () => process.exit())
process.send!({ endpoint: proxy.endpoint })
