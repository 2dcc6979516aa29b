/**
 * The API token, kept while the tab is open. There is none if the service needs no sign-in, or if a proxy signs users
 * in.
 */
import { useEffect, useState } from "preact/hooks";
import { clearCaches } from "./use-data.js";

const KEY = "token";

export const sessionToken = (): string | undefined => sessionStorage.getItem(KEY) ?? undefined;

let isSignInRequired = false;
/** The last token was not valid, or has expired. */
let wasRejected = false;
const listeners = new Set<() => void>();

function setSignInRequired(required: boolean): void {
  isSignInRequired = required;
  // The next user must not see data of the previous one.
  clearCaches();
  for (const listener of listeners) listener();
}

export function signIn(token: string): void {
  sessionStorage.setItem(KEY, token.trim());
  setSignInRequired(false);
}

export function signOut(): void {
  sessionStorage.removeItem(KEY);
  wasRejected = false;
  setSignInRequired(true);
}

/** Shows the sign-in form after the service rejected a request. */
export function requireSignIn(): void {
  if (isSignInRequired) return;
  const hadToken = sessionToken() !== undefined;
  signOut();
  wasRejected = hadToken;
}

export const wasTokenRejected = (): boolean => wasRejected;

/** Whether the user has to sign in. */
export function useSignInRequired(): boolean {
  const [isRequired, setRequired] = useState(isSignInRequired);
  useEffect(() => {
    const listener = () => setRequired(isSignInRequired);
    listeners.add(listener);
    listener();
    return () => void listeners.delete(listener);
  }, []);
  return isRequired;
}
