/** Words that follow a number, such as units. A "one" before them is not a pronoun. */
export const AFTER_NUMBER =
  /^(?:percent|per|dollars?|cents?|euros?|point|hundred|thousand|million|billion|trillion|o'clock|a\.?m|p\.?m|kilomet(?:er|re)s?|met(?:er|re)s?|miles?|minutes?|hours?|seconds?|years?|grams?|kilos?|pounds?|lit(?:er|re)s?|degrees?)$/
/** Words that follow a time of day. */
export const TIME_OF_DAY = /^(?:a\.?m|p\.?m)\.?$/i
/** Numbers that multiply the one before them. */
export const SCALE = /^(?:hundred|thousand|million|billion|trillion)$/
/** Words before a number that names a thing (page 128); after them, "one" is not a pronoun. */
export const LABEL =
  /^(?:press|dial|number|option|page|chapter|line|step|channel|version|part|level|room|gate|flight|extension|key|question|figure|table|act|scene|phase|zone|unit|lane|platform|door|route|highway)$/
/** Before these, "two twenty-one" is two numbers: two twenty-one day trips. */
export const COUNTED =
  /^(?:days?|weeks?|months?|inch(?:es)?|f(?:oo|ee)t|yards?|times?|people|pages?|packs?|points?)$/
