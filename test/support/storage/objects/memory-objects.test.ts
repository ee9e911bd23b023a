import { makeFolder } from '../test-storage.ts'
import { createMemoryObjects } from './memory-objects.ts'
import { testObjects } from './objects-conformance.ts'

testObjects('objects in memory', async (t) => createMemoryObjects(await makeFolder(t)))
