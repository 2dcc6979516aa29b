/** A cache of the public keys of a JWT issuer, so that users can sign on while the issuer is unreachable. */
import { createLocalJWKSet, createRemoteJWKSet, errors, type JWTVerifyGetKey } from "jose";
import type { Logger } from "pino";

const TIMEOUT_MS = 5_000;
/** Older keys are read again in the background, and still used meanwhile. */
export const FRESH_MS = 600_000;
/** Older keys are not used, so that a key that the issuer has revoked does not stay valid for ever. */
export const USABLE_MS = 24 * 3_600_000;
/** Minimum time between two readings, so that tokens with unknown key ids cannot cause more. */
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
 * Finds the key of a token for `jwtVerify`. Throws KeysNotReadError if the keys cannot be read, and none of the keys
 * that were read within a day is the token's. Throws the errors of jose if there is no such key, or it cannot be used.
 *
 * @param now returns milliseconds of a monotonic clock
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

  /** Reads the keys, or returns the result of a reading a moment ago. */
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
