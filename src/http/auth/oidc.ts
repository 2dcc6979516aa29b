/** Authenticates callers by JWTs of an OpenID Connect issuer. */
import { errors, type JWTPayload, jwtVerify } from "jose";
import type { Logger } from "pino";
import type { OidcSettings } from "../../config/settings/sign-on.js";
import { ApiError } from "../errors.js";
import type { SignedOnUser } from "./caller.js";
import { issuerKeys, KeysNotReadError } from "./issuer-keys.js";
import { jwtRefusal } from "./jwt-refusal.js";

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

/**
 * The function returns undefined for an invalid token. It throws an ApiError if the issuer's keys cannot be read, and
 * none of the cached keys is the token's.
 */
export function authenticateByJwt(
  settings: OidcSettings,
  logger: Logger,
): (token: string, log: Pick<Logger, "warn">) => Promise<SignedOnUser | undefined> {
  const { issuer, audience, jwks_url, name_claim, roles_claim } = settings;
  const keys = issuerKeys(jwks_url, logger);
  const rules = {
    issuer,
    audience,
    algorithms: ALGORITHMS,
    requiredClaims: ["exp"],
    clockTolerance: CLOCK_TOLERANCE_SECONDS,
  };
  return async (token, log) => {
    const refuse = (reason: string) => log.warn({ reason }, `a JWT is refused: ${reason}`);
    try {
      const { payload } = await jwtVerify(token, keys, rules);
      const name = claimOf(payload, [name_claim]);
      if (typeof name === "string") return { name, roles: rolesOf(payload, roles_claim) };
      refuse(`its \`${name_claim}\` is missing or not text`);
      return undefined;
    } catch (error) {
      if (error instanceof KeysNotReadError)
        throw new ApiError("store_unavailable", "The keys of the issuer of credentials cannot be read.");
      if (error instanceof errors.JOSEError) refuse(jwtRefusal(error, settings));
      else log.warn({ err: error }, "a JWT names a key of api.oidc.issuer that cannot be used");
      return undefined;
    }
  };
}

function rolesOf(payload: JWTPayload, claim: string): string[] {
  // A claim's name may contain dots, such as `https://example.org/roles`: try the whole name before the path.
  const found = claimOf(payload, [claim]) ?? claimOf(payload, claim.split("."));
  if (typeof found === "string") return found.split(" ");
  return Array.isArray(found) ? found.filter((role) => typeof role === "string") : [];
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
