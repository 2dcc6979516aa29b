/** The token of who has signed in, for as long as the tab is open; without one where the service asks nobody, or a proxy does it. */
import { useEffect, useState } from "preact/hooks";
import { forgetAll } from "./use-data.js";

const KEY = "token";

export const tokenOf = (): string | undefined => sessionStorage.getItem(KEY) ?? undefined;

let isAsked = false;
/** What was sent is not valid, or not any more. */
let wasRefused = false;
const listeners = new Set<() => void>();

function ask(whether: boolean): void {
  isAsked = whether;
  // Nothing stays of what somebody else could see.
  forgetAll();
  for (const listener of listeners) listener();
}

export function signIn(token: string): void {
  sessionStorage.setItem(KEY, token.trim());
  ask(false);
}

export function signOut(): void {
  sessionStorage.removeItem(KEY);
  wasRefused = false;
  ask(true);
}

/** The service wants a token, or another one. */
export function askToken(): void {
  if (isAsked) return;
  const had = tokenOf() !== undefined;
  signOut();
  wasRefused = had;
}

export const isRefused = (): boolean => wasRefused;

/** Whether somebody has to sign in. */
export function useIsAsked(): boolean {
  const [asked, setAsked] = useState(isAsked);
  useEffect(() => {
    const listener = () => setAsked(isAsked);
    listeners.add(listener);
    listener();
    return () => void listeners.delete(listener);
  }, []);
  return asked;
}
