/** The process behind `prepackInBackground`; its argument is the models folder. */

import { prepackModels } from './prepack-models.ts'

await prepackModels(process.argv[2]!)
