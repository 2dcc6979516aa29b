/**
 * Whether the user has to sign in. The session itself is in a cookie, which scripts cannot read and all tabs share, so
 * the tabs tell each other when it begins and ends.
 */
import { useEffect, useState } from "preact/hooks";
import { clearCaches, reloadAll } from "./use-data.js";

const tabs = new BroadcastChannel("session");
let isSignInRequired = false;
const listeners = new Set<() => void>();

function setSignInRequired(required: boolean): void {
  isSignInRequired = required;
  // The next user must not see data of the previous one.
  clearCaches();
  for (const listener of listeners) listener();
}

/** Shows the sign-in form after the service rejected a request. */
export function requireSignIn(): void {
  if (!isSignInRequired) setSignInRequired(true);
}

/** Loads everything again, as the caller that the browser now is. */
function beginAgain(): void {
  setSignInRequired(false);
  reloadAll();
}

tabs.addEventListener("message", ({ data }) => {
  if (data === "signed out" || isSignInRequired) beginAgain();
});

export function signedIn(): void {
  if (isSignInRequired) beginAgain();
  tabs.postMessage("signed in");
}

export function signedOut(): void {
  setSignInRequired(true);
  tabs.postMessage("signed out");
}

const FAILURE = "sign_in_failed";

/** Removes the failure of a sign-in at the issuer from the address, and returns it. */
function takeFailure(): string | undefined {
  const address = new URL(location.href);
  const failure = address.searchParams.get(FAILURE) ?? undefined;
  address.searchParams.delete(FAILURE);
  if (failure !== undefined) history.replaceState(null, "", address);
  return failure;
}
export const signInFailure = takeFailure();

const RELOADED = "reloaded_at";
const RELOAD_AGAIN_MS = 30_000;

/** Reloads the page, so that a proxy shows its sign-in page and comes back here. Does not reload again and again. */
export function reloadForProxy(): void {
  if (Date.now() - Number(sessionStorage.getItem(RELOADED)) < RELOAD_AGAIN_MS) return;
  sessionStorage.setItem(RELOADED, String(Date.now()));
  location.reload();
}

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
