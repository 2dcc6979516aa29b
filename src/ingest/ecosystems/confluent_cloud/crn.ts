/**
 * Confluent Resource Names: `crn://confluent.cloud/organization=…/environment=env-1/cloud-cluster=lkc-1/kafka=lkc-1`.
 *
 * Parts without `=`, or with nothing on one side of it, are ignored. Only the first `=` separates. Values are
 * percent-decoded after splitting, so a `/` or `=` inside a value is kept. A key may occur more than once.
 */

const SCHEME = "crn://";

export interface Crn {
  readonly authority: string;
  /** In the order of the name. */
  readonly parts: readonly { readonly key: string; readonly value: string }[];
}

/** Undefined if the text is not a CRN. */
export function parseCrn(text: string): Crn | undefined {
  if (!text.startsWith(SCHEME)) return undefined;
  const [authority = "", ...segments] = text.slice(SCHEME.length).split("/");
  const parts = segments.flatMap((segment) => {
    const at = segment.indexOf("=");
    const key = decoded(segment.slice(0, Math.max(at, 0)));
    const value = decoded(segment.slice(at + 1));
    return key === "" || value === "" ? [] : [{ key, value }];
  });
  return { authority, parts };
}

/** Returns the last value of a key. */
export function crnValue(crn: Crn | undefined, key: string): string | undefined {
  return crn?.parts.findLast((part) => part.key === key)?.value;
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a stray `%`: keep the text as it is
  }
}
