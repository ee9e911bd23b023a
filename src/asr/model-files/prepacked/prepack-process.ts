/** The process behind `prepackInBackground`; its argument is the models folder. */

import { constants, setPriority } from 'node:os'
import { prepackModels } from './prepack-models.ts'

setPriority(constants.priority.PRIORITY_LOW)
await prepackModels(process.argv[2]!)
