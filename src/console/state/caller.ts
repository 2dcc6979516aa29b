/** The caller and its scopes. The console hides what the caller may not do; the service enforces it. */
import { createContext } from "preact";
import type { Schemas } from "../api/client.js";

export const SignedInCaller = createContext<Schemas["Me"] | undefined>(undefined);
