/** Says why a JWT is refused. The reason goes to the log only, not to the caller. */
import { errors } from "jose";
import type { OidcSettings } from "../../config/settings/sign-on.js";

/** Limits the length of log lines, because anybody can make a token with long claims. */
const LONGEST_CLAIM = 100;

const causes: Readonly<Record<string, string>> = {
  ERR_JWKS_NO_MATCHING_KEY: "the issuer has no key of its key id",
  ERR_JWS_SIGNATURE_VERIFICATION_FAILED: "its signature is not by the key that it names",
  ERR_JOSE_ALG_NOT_ALLOWED: "its algorithm is not allowed",
  ERR_JOSE_NOT_SUPPORTED: "its algorithm is not supported",
};

/** Returns a clause about the token, such as `its audience is "wiki", not "costs"`. */
export function jwtRefusal(error: errors.JOSEError, { issuer, audience }: OidcSettings): string {
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
