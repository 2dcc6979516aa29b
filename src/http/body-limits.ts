/** Limits of the size of a JSON body, in bytes. `requireModestJson` also limits its levels and values. */
const KIB = 1024;

/** Default limit of a route. */
export const USUAL_BODY_BYTES = 64 * KIB;
/** Limit of routes that take lists of long texts, or of 10,000 ids. */
export const LARGE_BODY_BYTES = 1024 * KIB;
