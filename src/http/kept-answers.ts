/**
 * The last answers of reads whose ETag names them: who asks the same of the same published days, another reader of the same page for one, has the
 * answer without asking the store.
 */
import { setNewest } from "../store/set-newest.js";

export interface KeptAnswers {
  /** JSON; undefined where it is not kept. */
  get(etag: string): string | undefined;
  keep(etag: string, json: string): void;
}

/** 32 MiB at most where characters take one byte, 64 MiB where they take two. */
const MOST_ANSWERS = 128;
const MOST_CHARACTERS = 256 * 1024;

export function createKeptAnswers(): KeptAnswers {
  const answers = new Map<string, string>();
  return {
    get: (etag) => answers.get(etag),
    keep(etag, json) {
      if (json.length <= MOST_CHARACTERS) setNewest(answers, etag, json, MOST_ANSWERS);
    },
  };
}
