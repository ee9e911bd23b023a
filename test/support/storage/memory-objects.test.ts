import { createMemoryObjects } from './memory-objects.ts'
import { testObjects } from './objects-conformance.ts'
import { makeFolder } from './test-storage.ts'

testObjects('in memory', async (t) => createMemoryObjects(await makeFolder(t)))
