/**
 * The thread that builds results: a transcript in, the JSON text of its result out, with the audio
 * spans to silence and the requests to services. It also merges their responses, retries add-ons,
 * and describes which there are. Started by `result-thread.ts`.
 */
import { serveResultTasks } from './serve-result-tasks.ts'

serveResultTasks()
