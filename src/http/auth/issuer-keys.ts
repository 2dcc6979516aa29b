/** Public keys of an issuer of JWTs. Those that were read keep signing people on while the issuer is away. */
import { createLocalJWKSet, createRemoteJWKSet, errors, type JWTVerifyGetKey } from "jose";
import type { Logger } from "pino";

const TIMEOUT_MS = 5_000;
/** Older keys are read again, and used meanwhile. */
export const FRESH_MS = 600_000;
/** Older keys are not used: whoever took one back must not be ignored for ever. */
export const USABLE_MS = 24 * 3_600_000;
/** Tokens of made-up keys do not make us ask more often. */
export const AFTER_SUCCESS_MS = 30_000;
export const AFTER_FAILURE_MS = 5_000;

export class KeysNotReadError extends Error {
  override readonly name = "KeysNotReadError";
}

interface Reading {
  readonly at: number;
  readonly done: Promise<JWTVerifyGetKey>;
  failed: boolean;
}

/**
 * Finds the key of a token for `jwtVerify`. Throws KeysNotReadError when the keys cannot be read, and no key that was read within a day is the token's; what
 * jose throws when there is no such key, or it cannot be used. `now`: milliseconds of a clock that never goes back.
 */
export function issuerKeys(url: string, logger: Logger, now = () => performance.now()): JWTVerifyGetKey {
  const remote = createRemoteJWKSet(new URL(url), { timeoutDuration: TIMEOUT_MS });
  let known: { readonly find: JWTVerifyGetKey; readonly at: number } | undefined;
  let last: Reading | undefined;

  async function load(): Promise<JWTVerifyGetKey> {
    try {
      await remote.reload();
      const find = createLocalJWKSet(remote.jwks() ?? { keys: [] });
      known = { find, at: now() };
      return find;
    } catch (cause) {
      logger.warn({ err: cause }, "the keys of api.oidc.issuer cannot be read");
      throw new KeysNotReadError("the keys of the issuer cannot be read", { cause });
    }
  }

  /** Reads them, or returns what came of it a moment ago. */
  function read(): Promise<JWTVerifyGetKey> {
    if (last !== undefined && now() - last.at < (last.failed ? AFTER_FAILURE_MS : AFTER_SUCCESS_MS))
      return last.done;
    const reading: Reading = { at: now(), done: load(), failed: false };
    reading.done.catch(() => {
      reading.failed = true;
    });
    last = reading;
    return reading.done;
  }

  return async (header, token) => {
    const age = known === undefined ? Number.POSITIVE_INFINITY : now() - known.at;
    const find = known === undefined || age >= USABLE_MS ? await read() : known.find;
    if (age >= FRESH_MS) read().catch(() => undefined);
    try {
      return await find(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      return await (await read())(header, token);
    }
  };
}
