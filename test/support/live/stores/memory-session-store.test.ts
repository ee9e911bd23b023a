import { createMemorySessionStore } from './memory-session-store.ts'
import { testSessionStore } from './session-store-conformance.ts'

testSessionStore('in memory', async () => {
  const store = createMemorySessionStore()
  return { store, reopen: async () => createMemorySessionStore(store.stored) }
})
