/**
 * The thread that builds results: from a transcript, it makes the JSON text of the result, the
 * audio spans to silence and the requests to services. It also merges the responses, retries
 * add-ons, and describes the add-ons. Started by `result-thread.ts`.
 */
import { serveResultTasks } from './serve-result-tasks.ts'

serveResultTasks()
