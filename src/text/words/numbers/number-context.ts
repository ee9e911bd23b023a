/** Words that follow a number, such as units. A "one" before them is not a pronoun. */
export const AFTER_NUMBER =
  /^(?:percent|per|dollars?|cents?|euros?|point|hundred|thousand|million|billion|o'clock|a\.?m|p\.?m|kilomet(?:er|re)s?|met(?:er|re)s?|miles?|minutes?|hours?|seconds?|years?|grams?|kilos?|pounds?|lit(?:er|re)s?|degrees?)$/
/** Words that follow a time of day. */
export const TIME_OF_DAY = /^(?:a\.?m|p\.?m)\.?$/i
/** Numbers that multiply the one before them. */
export const SCALE = /^(?:hundred|thousand|million|billion|trillion)$/
