/** Malformed rows of the bill. Each has an amount of 1.25, so that tests can find out what happened to it. */

export const malformedKinds = [
  "missing_start_date",
  "null_start_date",
  "unreadable_start_date",
  "outside_window",
  "resource_list",
  "resource_text",
  "environment_text",
  "amount_missing",
  "amount_text",
  "line_type_missing",
  "unknown_line_type",
  "not_an_object",
] as const;
export type MalformedKind = (typeof malformedKinds)[number];

export function malformedText(kind: MalformedKind, day: string, nextDay: string): string {
  if (kind === "not_an_object") return '"a row"';
  const whole = {
    id: `bad-${day}-${kind}`,
    start_date: day,
    end_date: nextDay,
    granularity: "DAILY",
    product: "KAFKA",
    line_type: "KAFKA_STORAGE",
    price: 0.5,
    unit: "GB-hour",
    quantity: 2.5,
    original_amount: 1.25,
    discount_amount: 0,
    amount: 1.25,
    resource: { id: "lkc-malformed", display_name: "malformed", environment: { id: "env-malformed" } },
  };
  const { start_date: _date, ...undated } = whole;
  const { amount: _amount, ...unpriced } = whole;
  const { line_type: _type, ...untyped } = whole;
  const rows: Readonly<Record<Exclude<MalformedKind, "not_an_object">, unknown>> = {
    missing_start_date: undated,
    null_start_date: { ...whole, start_date: null },
    unreadable_start_date: { ...whole, start_date: "the 4th of March" },
    outside_window: { ...whole, start_date: "2001-02-03", end_date: "2001-02-04" },
    resource_list: { ...whole, resource: [whole.resource] },
    resource_text: { ...whole, resource: "lkc-malformed" },
    environment_text: { ...whole, resource: { ...whole.resource, environment: "env-malformed" } },
    amount_missing: unpriced,
    amount_text: { ...whole, amount: "about a dollar" },
    line_type_missing: untyped,
    unknown_line_type: { ...whole, line_type: "KAFKA_TELEPATHY" },
  };
  return JSON.stringify(rows[kind]);
}
