/** Whether amounts have all their digits: `digits=all` in the address. Otherwise they have those of the currency. */
import { createContext } from "preact";
import type { Place } from "./place.js";

export const AllDigits = createContext(false);

export const hasAllDigits = ({ query }: Place) => query.get("digits") === "all";
