/** How many bytes the JSON body of a request may have. `requireModestJson` limits how much work the bytes are. */
const KIB = 1024;

/** A few short texts: the limit of a route that names no other. */
export const USUAL_BODY_BYTES = 64 * KIB;
/** Lists of long texts, or of 10,000 ids. */
export const LARGE_BODY_BYTES = 1024 * KIB;
