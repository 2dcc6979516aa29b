/** Who looks at the console, and what they may do: what they may not is not offered. The service decides. */
import { createContext } from "preact";
import type { Schemas } from "../api/client.js";

export const Caller = createContext<Schemas["Me"] | undefined>(undefined);
