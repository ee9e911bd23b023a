/**
 * Swear words in which a recognizer, a writer or the profanity filter has replaced letters with
 * asterisks: "f***", "sh*t", "d***".
 */
export const MASKED =
  /(?:^| )(?:[a-z]\*{2,}\w*|f\*+\w*|s\*+t\w*|sh\*+t?\w*|b\*+ch\w*|c\*+t|mother\w*\*+\w*)(?: |$)/

const INTENT =
  "(?:i|we)(?:'ll| will| shall|'m going to|'re going to| am going to| are going to|'m gonna|'re gonna| am gonna| swear i'll| swear i will| want to| wanna|'m about to| am about to)"
const THEM_WILL =
  "(?:he|she|they|you)(?:'ll| will|'s going to|'re going to| is going to| are going to|'s gonna|'re gonna| threatened to| wants to| want to| tried to)"
const HARM =
  '(?:kill|murder|stab|shoot|strangle|choke|hurt|beat up|beat the (?:shit|crap|hell) out of|smash|slaughter|destroy|poison|rape|hang|burn|slit the throat of|slit|break the neck of|break)'
const PERSON =
  '(?:you|him|her|them|all of (?:you|them)|every(?:one|body)|your (?:family|kids|children|wife|husband|mother|face|neck|throat|legs|house down|house))'
/**
 * Sentences that only look like threats: "I'll shoot you an email", "I'll hurt you in the ratings",
 * "I will beat him in chess".
 */
const HARMLESS =
  '(?! (?:an?|the|some|another|one|over|my|back|with)(?: \\w+)? (?:email|e mail|mail|message|text|note|line|link|invite|question|quick|reminder|look|details|kindness|laughter)| (?:at|in) (?:chess|tennis|golf|poker|cards|the game|the race|this game|the ratings|the market)| (?:off|down) (?:the|my|our|a) (?:list|list|server|process))'

/** Threats of violence against people. */
export const THREATS = [
  `${INTENT} (?:\\w+ )?${HARM} ${PERSON}(?![a-z'])${HARMLESS}`,
  `${THEM_WILL} (?:kill|murder|stab|shoot|strangle|rape|hurt|beat up) (?:me|us)(?! (?:an?|some|over|another)(?![a-z]))(?![a-z'])`,
  "(?:there's|there is|i (?:have|planted|put|left)|we (?:have|planted)) a bomb (?:in|on|at|under)",
  `${INTENT} (?:blow up|set fire to|burn down|bomb|shoot up) (?:the|your|this|that) `,
  'i know where you (?:live|sleep)',
  'watch your back',
  "you(?:'re| are) (?:a dead (?:man|woman)|dead meat)",
  "(?:you'll|you will|you're going to|you're gonna) regret (?:this|that|ever)",
  "i(?:'ll| will) make you (?:suffer|bleed|pay for this)",
  "you(?:'re| are) (?:going to|gonna) die(?= |$)(?! (?:laughing|of laughter|when|if|someday|one day|of))",
  'you deserve to die',
].map((source) => new RegExp(`(?:^|[^\\p{L}'])(?:${source})`, 'u'))

const ABOUT_TO =
  "(?:want to|wanna|going to|gonna|tried to|trying to|thinking (?:of|about)|thought (?:of|about)|plan(?:ning)? (?:to|on)|need to|might|will|'ll|about to|feel like|think about)"

/** Words of people who think of hurting themselves, and words about people who hurt themselves. */
export const SELF_HARM = [
  `${ABOUT_TO} (?:kill|killing|hurt|hurting|harm|harming|cut|cutting|hang|hanging|shoot|shooting|starve|starving) (?:myself|himself|herself|themselves|yourself)(?! (?:laughing|some slack))`,
  '(?:cutting|harming) (?:myself|herself|himself|themselves)(?! (?:off|some|a |shaving))',
  'kill yourself',
  '(?:end|ending|take|taking|took|taken) (?:my|his|her|their|your) (?:own )?life(?! (?:insurance|story|savings|back|in|into|to|seriously|easy|as|for))',
  '(?:want to|wanna|going to|just) end it all',
  '(?:i|he|she|they) (?:just |really |only )?(?:wants?|wanted) to (?:die|be dead)(?! (?:laughing|of laughter|of embarrassment|trying|hard))',
  "(?:don't|do not|doesn't|does not|didn't) want to (?:live|be alive|wake up|be here|exist) (?:anymore|any more|any longer)",
  '(?:commit|committed|committing|attempt|attempted|considering|considered) suicide(?! (?:bombing|mission))',
  "(?:'m|am|is|are|was|feel|feeling|feels|felt|been) suicidal",
  '(?:no|not any|any) (?:reason|point) (?:to|in) (?:live|living)',
  'better off (?:dead|without me)',
  'wish (?:i|that i) (?:was|were) (?:dead|never born)',
].map((source) => new RegExp(`(?:^|[^\\p{L}])(?:${source})(?![\\p{L}])`, 'u'))
