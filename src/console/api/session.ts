/** Begins and ends the session of the browser. */
import { signedIn, signedOut } from "../state/session.js";
import { en } from "../text/en.js";
import { ApiRequestError, api, bodyOf } from "./client.js";

/** Exchanges a token for a session. Throws ApiRequestError if the service rejects the token. */
export async function signInWith(token: string): Promise<void> {
  // No header can carry other characters.
  if (!/^[\x21-\x7e]+$/.test(token))
    throw new ApiRequestError(en.signIn.refused, "unauthenticated", 401, undefined);
  await bodyOf(api.POST("/api/v1/session", { headers: { authorization: `Bearer ${token}` } }));
  signedIn();
}

/** Ends the session, or all sessions of the user. */
export async function signOut(everywhere: boolean): Promise<void> {
  await bodyOf(api.DELETE("/api/v1/session", { params: { query: { everywhere } } }));
  signedOut();
}
