/**
 * Limits of requests: generous for people, small for machines. Texts are counted in
 * UTF-16 code units. Limits that an operator can set are in `config.ts`.
 */

/**
 * A word, a name or a short phrase; it is compared with the whole transcript, and occurs in
 * results.
 */
export const MAX_TERM_CHARS = 300

/** Pronunciations of one entry of a vocabulary; each is compared on its own. */
export const MAX_PRONUNCIATIONS = 20

/** Pronunciations of all entries of a vocabulary: two for each entry of the largest one. */
export const MAX_ALL_PRONUNCIATIONS = 20_000

/** Words of a spelling dictionary; as many as a vocabulary may have entries. */
export const MAX_SPELLINGS = 10_000

/** Recognized variants of one word of a spelling dictionary. */
export const MAX_VARIANTS = 100

/** Variants in a whole spelling dictionary: two for each word of the largest one. */
export const MAX_ALL_VARIANTS = 20_000

/** Some ten pages: a prompt, a part of one, or the context of a translation. */
export const MAX_PROMPT_CHARS = 20_000

/** Parts of one prompt. */
export const MAX_PROMPT_PARTS = 50

/** Every language there is, some of them with several regions. */
export const MAX_LANGUAGES = 200

/** Fits every type of personal data and every group of them. */
export const MAX_ENTITY_TYPES = 100

/** There are two formats; some clients repeat one several times. */
export const MAX_FORMATS = 10

/** Kinds of facts to extract. */
export const MAX_CLASSES = 100

/** The name of a model, of an event or an id. */
export const MAX_NAME_CHARS = 200

/**
 * Servers refuse longer URLs; the URL of a callback is stored with each of thousands of messages of
 * a live session.
 */
export const MAX_URL_CHARS = 8192

/** A date with a time, fractions and a time zone has 35. */
export const MAX_DATE_TIME_CHARS = 64

/** Values of one query parameter; lists have fewer filter words. */
export const MAX_QUERY_VALUES = 100

/** Keys of metadata that is attached to a session; their content is limited in bytes. */
export const MAX_METADATA_KEYS = 10_000

/** A key of metadata is a name, not a text. */
export const MAX_METADATA_KEY_CHARS = 1000

/** Length of Idempotency-Key; a UUID has 36. */
export const MAX_IDEMPOTENCY_KEY_CHARS = 255

/** Corrections in one request: a page of a transcript has fewer words. */
export const MAX_EDIT_OPERATIONS = 500

/** An utterance, however long it is. */
export const MAX_EDIT_CHARS = 20_000

/** All corrections of one request, as JSON. */
export const MAX_EDIT_BYTES = 1_000_000

/** No transcript has so many utterances, words or versions. */
export const MAX_EDIT_INDEX = 10_000_000

/** Numbers of speakers, with those that people add. */
export const MAX_EDIT_SPEAKER = 999

/** Files show a name before the words, in one row of a subtitle. */
export const MAX_SPEAKER_NAME_CHARS = 80

/** Versions of a transcript that are listed at once. */
export const MAX_EDIT_VERSIONS = 10_000
