import { testSamples } from '../../support/samples/run-samples.ts'

/** The samples of the README, the guides and the examples run. */
testSamples((page) => !/^docs\/[^/]*$/.test(page))
