/** UTC days as the console shows them. */
import { dayOf, daysBetween } from "../../common/days.js";
import { dayText } from "../../common/figures.js";

export const currentDay = () => dayOf(new Date());

/** Number of days from `first` to `last`, both included. */
export const dayCount = (first: string, last: string) => daysBetween(first, last) + 1;

/** `3 Nov 2026` or `3 Nov`. Always in English, like all texts of the console. */
export const shownDay = dayText;

/** `November 2026`, or `Nov 2026`. */
export const shownMonth = (day: string, month: "long" | "short" = "long") =>
  new Intl.DateTimeFormat("en-GB", { month, year: "numeric", timeZone: "UTC" }).format(
    new Date(`${day}T00:00:00Z`),
  );

/** `3 Nov 2026, 14:00 UTC`. */
export const shownInstant = (instant: string) =>
  `${dayText(instant.slice(0, 10))}, ${instant.slice(11, 16)} UTC`;
