/**
 * Signs users in at the OpenID Connect issuer, by authorization code and PKCE. `openid-client` does the protocol. It is
 * loaded at the first sign-in.
 */
import type { Logger } from "pino";
import type { OidcSettings } from "../../config/settings/sign-on.js";
import { hasUsableName, type SignedOnUser } from "./caller.js";
import { jwtClaims, userOf } from "./oidc.js";

/** Why a sign-in failed. The console has a sentence for each. */
export type SignInFailure =
  /** The user cancelled it, or the issuer does not permit this service to the user. */
  | "denied"
  | "unreachable"
  /** The issuer refused the service, or its response is not valid. The log has the cause. */
  | "refused"
  /** Another browser began the sign-in, or this one too long ago. */
  | "not_begun"
  /** The tokens have no usable name. */
  | "nameless"
  | "throttled";

export class SignInError extends Error {
  override readonly name = "SignInError";
  constructor(
    readonly failure: SignInFailure,
    options?: ErrorOptions,
  ) {
    super(`the sign-in at the issuer failed: ${failure}`, options);
  }
}

/** What the browser keeps from the beginning of a sign-in to its end, in a cookie. */
interface BegunSignIn {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

interface IssuerSignIn {
  /** Returns the address of the issuer's sign-in page. */
  begin(redirectUri: string): Promise<{ readonly url: URL; readonly begun: BegunSignIn }>;
  /** @param callback the address to which the issuer sent the browser */
  finish(begun: BegunSignIn, callback: URL, log: Pick<Logger, "warn">): Promise<SignedOnUser>;
}

const TIMEOUT_SECONDS = 10;

/** The functions throw SignInError. */
export function issuerSignIn(settings: OidcSettings, logger: Logger): IssuerSignIn {
  const { client_id = "", client_secret: secret, issuer, request_scopes } = settings;
  const claimsOfAccessToken = jwtClaims(settings, logger);
  let opened: ReturnType<typeof open> | undefined;

  async function open() {
    const library = await import("openid-client");
    const { ClientSecretBasic, ClientSecretPost, None } = library;
    const execute = [library.enableNonRepudiationChecks];
    if (issuer.startsWith("http:")) execute.push(library.allowInsecureRequests);
    const config = await library.discovery(
      new URL(issuer),
      client_id,
      undefined,
      (as, ...request) => {
        const takesBasic = as.token_endpoint_auth_methods_supported?.includes("client_secret_basic") ?? true;
        const authenticate =
          secret === undefined ? None() : (takesBasic ? ClientSecretBasic : ClientSecretPost)(secret);
        authenticate(as, ...request);
      },
      { execute, timeout: TIMEOUT_SECONDS },
    );
    return { library, config };
  }

  /** Reads the issuer's metadata once, and again if that failed. */
  async function client() {
    opened ??= open();
    try {
      return await opened;
    } catch (error) {
      opened = undefined;
      throw failureOf(error);
    }
  }

  return {
    async begin(redirectUri) {
      const { library, config } = await client();
      const begun = {
        state: library.randomState(),
        nonce: library.randomNonce(),
        verifier: library.randomPKCECodeVerifier(),
      };
      const url = library.buildAuthorizationUrl(config, {
        redirect_uri: redirectUri,
        scope: request_scopes,
        state: begun.state,
        nonce: begun.nonce,
        code_challenge: await library.calculatePKCECodeChallenge(begun.verifier),
        code_challenge_method: "S256",
      });
      return { url, begun };
    },

    async finish({ state, nonce, verifier }, callback, log) {
      if (callback.searchParams.get("state") !== state) throw new SignInError("not_begun");
      const { library, config } = await client();
      const checks = { expectedState: state, expectedNonce: nonce, pkceCodeVerifier: verifier };
      const tokens = await library
        .authorizationCodeGrant(config, callback, checks)
        .catch((cause: unknown) => {
          const isDenied =
            cause instanceof library.AuthorizationResponseError && cause.error === "access_denied";
          throw isDenied ? new SignInError("denied", { cause }) : failureOf(cause);
        });
      // Many issuers put roles into the access token only. It counts if it would be accepted as a bearer token.
      const isJwt = tokens.access_token.split(".").length === 3;
      const ofAccess = isJwt ? await claimsOfAccessToken(tokens.access_token, log) : undefined;
      const claims = [tokens.claims(), ofAccess].filter((each) => each !== undefined);
      const user = userOf(claims, settings, log);
      if (user === undefined || !hasUsableName(user)) throw new SignInError("nameless");
      return user;
    },
  };
}

/** `fetch` throws this TypeError if it gets no response. */
function failureOf(cause: unknown): SignInError {
  const isTimeout = cause instanceof Error && "code" in cause && cause.code === "OAUTH_TIMEOUT";
  const isUnreachable = isTimeout || (cause instanceof TypeError && cause.message === "fetch failed");
  return new SignInError(isUnreachable ? "unreachable" : "refused", { cause });
}
