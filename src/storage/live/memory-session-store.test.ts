import { createMemorySessionStore } from './memory-session-store.fixture.ts'
import { testSessionStore } from './session-store-conformance.fixture.ts'

testSessionStore('in memory', async () => {
  const store = createMemorySessionStore()
  return { store, reopen: async () => createMemorySessionStore(store.stored) }
})
