/** Why a record of an upstream cannot be stored: one sentence part, or undefined when it can. */
import { CURRENCY, LONGEST_ID } from "../../store/text-limits.js";
import type { BillingLine, IdentitySetMember, TopicUsageFact, UsageFact } from "../ecosystem.js";

const LONGEST_METADATA = 1_000_000;

/** `Decimal(38, 12)`. */
const DECIMAL = /^-?\d{1,26}(\.\d{1,12})?$/;
/** A whole number of at most 30 digits: so a day's sum of them stays far inside 128 bits. */
const MICRO_UNITS = /^\d{1,31}$/;
const CURRENCY_CODE = new RegExp(CURRENCY);
const TIME = /^\d{4}-\d{2}-\d{2}T([01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/;
/** Control characters break logs, CSV and terminals; a lone surrogate is no text at all. */
const UNFIT = /[\p{Cc}\p{Surrogate}]/u;

export function refuseBillingLine(line: BillingLine): string | undefined {
  return (
    refuseTime(line.timestamp) ??
    refuseId("resource_id", line.resource_id) ??
    refuseText("env_id", line.env_id) ??
    refuseText("product_category", line.product_category) ??
    refuseText("product_type", line.product_type) ??
    refuseDecimal("quantity", line.quantity) ??
    refuseDecimal("unit_price", line.unit_price) ??
    refuseDecimal("total_cost", line.total_cost) ??
    (CURRENCY_CODE.test(line.currency) ? undefined : "its currency is not three capital letters") ??
    refuseId("granularity", line.granularity) ??
    (JSON.stringify(line.metadata).length > LONGEST_METADATA ? "its metadata is too long" : undefined)
  );
}

export function refuseUsageFact(fact: UsageFact): string | undefined {
  return refuseId("identity_id", fact.identity_id) ?? refuseMeasure(fact);
}

export function refuseTopicUsage(fact: TopicUsageFact): string | undefined {
  return refuseId("topic_name", fact.topic_name) ?? refuseMeasure(fact);
}

function refuseMeasure(fact: Omit<UsageFact, "identity_id">): string | undefined {
  return (
    refuseTime(fact.timestamp) ??
    refuseId("metric", fact.metric) ??
    refuseId("resource_id", fact.resource_id) ??
    (MICRO_UNITS.test(fact.micro_units)
      ? undefined
      : "micro_units is not a whole number of at most 31 digits")
  );
}

export function refuseMember(member: IdentitySetMember): string | undefined {
  return refuseId("identity_id", member.identity_id) ?? refuseText("resource_id", member.resource_id);
}

/** A text of an upstream for a message: no control characters, not endless. */
export function quoted(text: string): string {
  const clean = text.replace(/[\p{Cc}\p{Surrogate}]/gu, "?");
  return JSON.stringify(clean.length > 100 ? `${clean.slice(0, 100)}…` : clean);
}

/** A window has a few hundred of them, in millions of facts. */
const validTimes = new Set<string>();
const MOST_REMEMBERED = 20_000;

function refuseTime(timestamp: string): string | undefined {
  if (validTimes.has(timestamp)) return undefined;
  if (!TIME.test(timestamp) || Number.isNaN(Date.parse(timestamp))) return "its timestamp is not a UTC time";
  if (validTimes.size >= MOST_REMEMBERED) validTimes.clear();
  validTimes.add(timestamp);
  return undefined;
}

function refuseId(name: string, text: string): string | undefined {
  return text === "" ? `its ${name} is empty` : refuseText(name, text);
}

function refuseText(name: string, text: string): string | undefined {
  if (text.length > LONGEST_ID) return `its ${name} is longer than ${LONGEST_ID} characters`;
  return UNFIT.test(text) ? `its ${name} has control characters` : undefined;
}

function refuseDecimal(name: string, text: string): string | undefined {
  return DECIMAL.test(text) ? undefined : `its ${name} is not a decimal of at most 26 digits and 12 places`;
}
