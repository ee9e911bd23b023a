/** Languages in which entities are found. */
export const languages: readonly string[] = ['en']
