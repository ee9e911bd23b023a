import { createMemorySessionStore } from './memory-session-store.ts'
import { testSessionStore } from './session-store-conformance.ts'

testSessionStore('memory session store', async () => {
  const store = createMemorySessionStore()
  return { store, reopen: async () => createMemorySessionStore(store.stored) }
})
