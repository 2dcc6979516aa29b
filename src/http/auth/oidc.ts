/** Authenticates callers by JWTs of an OpenID Connect issuer. */
import { errors, type JWTPayload, jwtVerify } from "jose";
import type { Logger } from "pino";
import type { OidcSettings } from "../../config/settings/sign-on.js";
import { ApiError } from "../errors.js";
import type { SignedOnUser } from "./caller.js";
import { issuerKeys, KeysNotReadError } from "./issuer-keys.js";

/** Asymmetric algorithms only: neither shared secrets (HS256 and the like) nor unsigned tokens (`none`). */
const ALGORITHMS = [
  "RS256",
  "RS384",
  "RS512",
  "PS256",
  "PS384",
  "PS512",
  "ES256",
  "ES384",
  "ES512",
  "EdDSA",
  "Ed25519",
];
const CLOCK_TOLERANCE_SECONDS = 30;

type Log = Pick<Logger, "warn">;

/** The function returns the user of a token, or undefined. It throws like that of `jwtClaims`. */
export function authenticateByJwt(
  settings: OidcSettings,
  logger: Logger,
): (token: string, log: Log) => Promise<SignedOnUser | undefined> {
  const claimsOf = jwtClaims(settings, logger);
  return async (token, log) => {
    const claims = await claimsOf(token, log);
    return claims && userOf([claims], settings, log);
  };
}

/**
 * The function returns undefined for an invalid token. It throws an ApiError if the token's key is not cached and the
 * issuer's keys cannot be read.
 */
export function jwtClaims(
  settings: OidcSettings,
  logger: Logger,
): (token: string, log: Log) => Promise<JWTPayload | undefined> {
  const { issuer, audience, jwks_url } = settings;
  const keys = issuerKeys(jwks_url, logger);
  const rules = {
    issuer,
    audience,
    algorithms: ALGORITHMS,
    requiredClaims: ["exp"],
    clockTolerance: CLOCK_TOLERANCE_SECONDS,
  };
  return async (token, log) => {
    try {
      return (await jwtVerify(token, keys, rules)).payload;
    } catch (error) {
      if (error instanceof KeysNotReadError)
        throw new ApiError("store_unavailable", "The keys of the issuer of credentials cannot be read.");
      if (error instanceof errors.JOSEError) refuse(log, jwtRefusal(error, settings));
      else log.warn({ err: error }, "the key of a JWT cannot be used");
      return undefined;
    }
  };
}

function refuse(log: Log, reason: string): void {
  log.warn({ reason }, `a JWT is refused: ${reason}`);
}

/** Returns the user of a sign-on. The first of its tokens that has a claim counts. */
export function userOf(
  tokens: readonly JWTPayload[],
  { name_claim, roles_claim }: OidcSettings,
  log: Log,
): SignedOnUser | undefined {
  const name = firstOf(tokens, (claims) => claimOf(claims, [name_claim]));
  if (typeof name === "string") return { name, roles: rolesOf(tokens, roles_claim) };
  refuse(log, `its \`${name_claim}\` is missing or not text`);
  return undefined;
}

function rolesOf(tokens: readonly JWTPayload[], claim: string): string[] {
  // A claim's name may contain dots, such as `https://example.org/roles`: try the whole name before the path.
  const found = firstOf(tokens, (claims) => claimOf(claims, [claim]) ?? claimOf(claims, claim.split(".")));
  if (typeof found === "string") return found.split(" ");
  return Array.isArray(found) ? found.filter((role) => typeof role === "string") : [];
}

function firstOf(tokens: readonly JWTPayload[], read: (claims: JWTPayload) => unknown): unknown {
  return tokens.map(read).find((value) => value !== undefined);
}

function claimOf(payload: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (value, key) =>
      typeof value === "object" && value !== null && Object.hasOwn(value, key)
        ? (value as Record<string, unknown>)[key]
        : undefined,
    payload,
  );
}

/** Limits the length of log lines, because anybody can make a token with long claims. */
const LONGEST_CLAIM = 100;

const causes: Readonly<Record<string, string>> = {
  ERR_JWKS_NO_MATCHING_KEY: "the issuer has no key of its key id",
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: "its signature is not by the key that it names",
  ERR_JOSE_ALG_NOT_ALLOWED: "its algorithm is not allowed",
  ERR_JOSE_NOT_SUPPORTED: "its algorithm is not supported",
};

/**
 * Says why a JWT is refused, for the log only, not for the caller. Returns a clause about the token, such as `its
 * audience is "wiki", not "costs"`.
 */
function jwtRefusal(error: errors.JOSEError, { issuer, audience }: OidcSettings): string {
  if (error instanceof errors.JWTExpired) return `it expired at ${instantOf(error.payload.exp)}`;
  if (error instanceof errors.JWTClaimValidationFailed) {
    const { claim, reason, payload } = error;
    if (claim === "aud") return `its audience is ${shown(payload.aud)}, not ${shown(audience)}`;
    if (claim === "iss") return `its issuer is ${shown(payload.iss)}, not ${shown(issuer)}`;
    if (claim === "nbf" && reason === "check_failed")
      return `it is not valid before ${instantOf(payload.nbf)}`;
    return reason === "missing" ? `it has no \`${claim}\`` : `its \`${claim}\` is not valid`;
  }
  return causes[error.code] ?? "it is not a JWT";
}

function instantOf(seconds: number | undefined): string {
  const date = new Date((seconds ?? Number.NaN) * 1000);
  return Number.isNaN(date.getTime()) ? "no instant" : date.toISOString();
}

function shown(claim: unknown): string {
  const text = JSON.stringify(claim) ?? "missing";
  return text.length > LONGEST_CLAIM ? `${text.slice(0, LONGEST_CLAIM)}…` : text;
}
