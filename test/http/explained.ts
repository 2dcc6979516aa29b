/**
 * Amounts calculated again from what an explanation shows, and from nothing else: the arithmetic of docs/explanation/allocation.md
 * in fractions of whole numbers, written apart from the service's.
 */
import type { Static } from "@sinclair/typebox";
import type { FastifyInstance } from "fastify";
import type { Explanation as ExplanationSchema } from "../../src/http/schemas/explanation.js";
import { get } from "./service.js";

export type Explanation = Static<typeof ExplanationSchema>;
type Recipient = Explanation["this"];

const SCALE = 10n ** 18n;

/** A decimal in units of 1e-18. */
function scaled(text: string | null): bigint {
  if (text === null) throw new Error("a number is not there");
  const [, sign = "", whole = "", fraction = ""] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text) ?? [];
  const size = BigInt(whole) * SCALE + BigInt(fraction.padEnd(18, "0"));
  return sign === "-" ? -size : size;
}

/** The text of such a number. */
function plain(value: bigint): string {
  const size = value < 0n ? -value : value;
  const fraction = (size % SCALE).toString().padStart(18, "0").replace(/0+$/, "");
  return `${value < 0n ? "-" : ""}${size / SCALE}${fraction === "" ? "" : `.${fraction}`}`;
}

const byBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));

/** Everything that is not as the explanation itself has it; and the amounts of all who share, by identity. */
function recalculated(answer: Explanation, everybody: readonly Recipient[]) {
  const { line, rule, split, row } = answer;
  if (line === null || rule === null || split === null) throw new Error("nothing is explained");
  const cost = scaled(line.total_cost);
  const [sign, size] = cost < 0n ? [-1n, -cost] : [1n, cost];
  const tick = SCALE / 10n ** BigInt(split.decimal_places);
  const lineTicks = size / tick;
  const residue = size - lineTicks * tick;

  let [ratio, before] = [0n, 0n];
  const components = rule.components.map((component) => {
    ratio += scaled(component.ratio);
    // Half away from zero: the line is taken without its sign.
    const upTo = (2n * lineTicks * ratio + SCALE) / (2n * SCALE);
    const ticks = upTo - before;
    before = upTo;
    return { component: component.component, ticks };
  });
  const most = components.reduce((a, b) => (b.ticks > a.ticks ? b : a));
  const own = components.find(({ component }) => component === row.component);
  if (own === undefined) throw new Error("the rule has no such component");

  const weights = everybody
    .map(({ identity_id, weight }) => ({ identity_id, weight: scaled(weight) }))
    .sort((a, b) => byBytes(a.identity_id, b.identity_id));
  const total = weights.reduce((sum, { weight }) => sum + weight, 0n);
  const shares = weights.map((each) => ({
    ...each,
    ticks: (own.ticks * each.weight) / total,
    rest: (own.ticks * each.weight) % total,
  }));
  const remaining = own.ticks - shares.reduce((sum, { ticks }) => sum + ticks, 0n);
  let left = remaining;
  for (const share of shares.toSorted((a, b) => (a.rest === b.rest ? 0 : a.rest > b.rest ? -1 : 1))) {
    if (left === 0n) break;
    share.ticks += 1n;
    left -= 1n;
  }
  const heaviest = shares.reduce((a, b) => (b.weight > a.weight ? b : a));
  const amounts = shares.map((share) => {
    const takes = most.component === row.component && share === heaviest ? residue : 0n;
    return [share.identity_id, plain(sign * (share.ticks * tick + takes))] as const;
  });
  return {
    amounts: Object.fromEntries(amounts),
    ...{ remaining, total },
    components: components.map(({ component, ticks }) => ({ component, ticks: ticks.toString() })),
    line: plain(sign * (components.reduce((sum, { ticks }) => sum + ticks, 0n) * tick + residue)),
    componentAmount: plain(sign * (own.ticks * tick + (most.component === row.component ? residue : 0n))),
  };
}

/** The amount of one recipient by the shortest way: as the description of `Recipient` has it. */
function amountOf({ line, split }: Explanation, recipient: Recipient): string {
  if (line === null || split === null) throw new Error("nothing is explained");
  const ticks = scaled(recipient.whole_ticks) + (recipient.has_extra_tick ? SCALE : 0n);
  const size = (ticks * scaled(split.tick)) / SCALE + (recipient.has_residue ? scaled(split.residue) : 0n);
  return plain(line.total_cost.startsWith("-") ? -size : size);
}

/** The explanation with all its recipients. */
async function explained(
  app: FastifyInstance,
  path: string,
): Promise<{ answer: Explanation; everybody: Recipient[] }> {
  const pages: Explanation[] = [];
  do {
    const { status, body } = await get(app, `${path}&page_size=1000&page=${pages.length + 1}`);
    if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
    pages.push(body);
  } while (pages.length < (pages[0]?.recipients.pages ?? 0));
  const [answer] = pages;
  if (answer === undefined) throw new Error("no page");
  return { answer, everybody: pages.flatMap(({ recipients }) => recipients.items) };
}

/** Everything about the amounts of a row that has to hold, as one value that is equal to `sound`. */
export async function soundness(app: FastifyInstance, path: string) {
  const { answer, everybody } = await explained(app, path);
  const { rule, split, line, row, tiers, samples } = answer;
  const again = recalculated(answer, everybody);
  const shown = Object.fromEntries(everybody.map(({ identity_id, amount }) => [identity_id, amount]));
  const wrong = Object.keys(again.amounts).filter((who) => again.amounts[who] !== shown[who]);
  const sum = everybody.reduce((total, { amount }) => total + scaled(amount), 0n);
  const component = rule?.components.find((each) => each.component === row.component);
  const measured = samples.reduce((total, { quantity }) => total + scaled(quantity), 0n);
  const used = tiers?.find(({ outcome }) => outcome === "used");
  const passed = tiers?.filter(({ tier }) => tier < row.tier).map(({ outcome }) => outcome) ?? [];
  return {
    answer,
    everybody,
    faults: [
      answer.weights_kept ? "" : "the weights are not kept",
      wrong.length === 0 ? "" : `other amounts: ${wrong.join()}`,
      Object.keys(shown).length === answer.recipients.total ? "" : "recipients are missing",
      again.line === line?.total_cost ? "" : "components are not the line",
      plain(sum) === component?.amount ? "" : "recipients are not the component",
      again.componentAmount === component?.amount ? "" : "another component",
      shown[answer.identity_id] === row.amount && answer.this.amount === row.amount ? "" : "another amount",
      everybody.every((each) => amountOf(answer, each) === each.amount) ? "" : "ticks are not the amounts",
      again.remaining.toString() === split?.remaining_ticks ? "" : "other remaining ticks",
      plain(again.total) === split?.total_weight ? "" : "another total weight",
      row.allocation_method === "usage_ratio" && plain(measured) !== answer.this.weight
        ? "other samples"
        : "",
      used?.tier === row.tier || rule?.given_up ? "" : "another tier",
      passed.includes("unclear") ? "a tier that was passed over for no reason" : "",
    ].filter((fault) => fault !== ""),
  };
}
