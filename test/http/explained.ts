/**
 * Calculates amounts again from an explanation alone. It implements the arithmetic of docs/explanation/allocation.md
 * with fractions of whole numbers, independently of the service's code.
 */
import type { Static } from "@sinclair/typebox";
import type { FastifyInstance } from "fastify";
import createXxHash from "xxhash-wasm";
import type { explanationSchema as ExplanationSchema } from "../../src/http/schemas/explanation.js";
import { get } from "./service.js";

export type ExplanationBody = Static<typeof ExplanationSchema>;
type Recipient = ExplanationBody["this"];

const { h64 } = await createXxHash();

const SCALE = 10n ** 18n;

/** Parses a decimal into units of 1e-18. */
function scaled(text: string | null): bigint {
  if (text === null) throw new Error("a number is not there");
  const [, sign = "", whole = "", fraction = ""] = /^(-?)(\d+)(?:\.(\d+))?$/.exec(text) ?? [];
  const size = BigInt(whole) * SCALE + BigInt(fraction.padEnd(18, "0"));
  return sign === "-" ? -size : size;
}

/** Formats such a number as text. */
function plain(value: bigint): string {
  const size = value < 0n ? -value : value;
  const fraction = (size % SCALE).toString().padStart(18, "0").replace(/0+$/, "");
  return `${value < 0n ? "-" : ""}${size / SCALE}${fraction === "" ? "" : `.${fraction}`}`;
}

const byBytes = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));

/** Draws a point of a whole from the line. The whole is in units of 1e-18, and weights are counted in `unit`. */
function drawn(
  { date, line: _, row, ...of }: ExplanationBody,
  point: string,
  whole: bigint,
  unit: bigint,
): bigint {
  const seconds = Date.parse(row.timestamp) / 1000;
  const key = [of.env_id, of.resource_id, of.product_category, of.product_type, row.currency, row.line_id];
  const hops = of.path.slice(0, of.giving).flatMap(({ step, identity_id }) => [step, identity_id]);
  const ofStep = hops.length === 0 ? [] : [row.component, ...hops];
  return ((h64([date, seconds, ...key, point, ...ofStep].join("\n")) * (whole / unit)) >> 64n) * unit;
}

/** A step splits what it takes as a whole, whichever component of the line that was. */
function componentOf({ taken, row }: ExplanationBody): number {
  return taken === null ? row.component : 0;
}

/** Lists every number that differs from the explanation, and the amounts of all recipients by identity. */
function recalculated(response: ExplanationBody, everybody: readonly Recipient[]) {
  const { line, rule, split, row } = response;
  if (line === null || rule === null || split === null) throw new Error("nothing is explained");
  const cost = scaled(response.taken ?? line.total_cost);
  const [sign, size] = cost < 0n ? [-1n, -cost] : [1n, cost];
  const tick = SCALE / 10n ** BigInt(split.decimal_places);
  const lineTicks = size / tick;
  const residue = size - lineTicks * tick;

  const ofLine = (point: string) => drawn(response, point, SCALE, SCALE / 1_000_000n);
  const [componentsOffset, residuePoint] = [ofLine("components"), ofLine("residue component")];
  let [ratio, before] = [0n, 0n];
  const components = rule.components.map((component) => {
    ratio += scaled(component.ratio);
    const hasResidue = ratio > residuePoint && ratio - scaled(component.ratio) <= residuePoint;
    const upTo = (lineTicks * ratio + componentsOffset) / SCALE;
    const ticks = upTo - before;
    before = upTo;
    return { component: component.component, ticks, hasResidue };
  });
  const own = components.find(({ component }) => component === componentOf(response));
  if (own === undefined) throw new Error("the rule has no such component");

  const weights = everybody
    .map(({ identity_id, weight }) => ({ identity_id, weight: scaled(weight) }))
    .sort((a, b) => byBytes(a.identity_id, b.identity_id));
  const total = weights.reduce((sum, { weight }) => sum + weight, 0n);
  // Usage, costs and shares are counted in millionths, and members one by one.
  const unit = ["usage_ratio", "cost_ratio", "fixed_ratio"].includes(row.allocation_method)
    ? SCALE / 1_000_000n
    : SCALE;
  const ofWeights = (point: string) => drawn(response, point, total, unit);
  const [offset, point] = [ofWeights("recipients"), ofWeights("residue recipient")];
  let walked = 0n;
  const amounts = weights.map(({ identity_id, weight }) => {
    const ticksAt = (upTo: bigint) => (own.ticks * upTo + offset) / total;
    const takes = own.hasResidue && walked <= point && point < walked + weight ? residue : 0n;
    const ticks = ticksAt(walked + weight) - ticksAt(walked);
    walked += weight;
    return [identity_id, plain(sign * (ticks * tick + takes))] as const;
  });
  return {
    amounts: Object.fromEntries(amounts),
    points: [componentsOffset, residuePoint, offset, point].map(plain),
    total,
    components: components.map(({ component, ticks }) => ({ component, ticks: ticks.toString() })),
    line: plain(sign * (components.reduce((sum, { ticks }) => sum + ticks, 0n) * tick + residue)),
    componentAmount: plain(sign * (own.ticks * tick + (own.hasResidue ? residue : 0n))),
  };
}

/** Calculates the amount of one recipient directly, as the description of `Recipient` states it. */
function amountOf({ line, taken, split }: ExplanationBody, recipient: Recipient): string {
  if (line === null || split === null) throw new Error("nothing is explained");
  const total = scaled(split.total_weight);
  const upTo = scaled(recipient.weight_up_to);
  const ticksAt = (weight: bigint) =>
    (BigInt(split.component_ticks) * weight + scaled(split.rounding_offset)) / total;
  const ticks = ticksAt(upTo) - ticksAt(upTo - scaled(recipient.weight));
  if (ticks.toString() !== recipient.ticks) return `${ticks} ticks, not ${recipient.ticks}`;
  const size = ticks * scaled(split.tick) + (recipient.has_residue ? scaled(split.residue) : 0n);
  return plain((taken ?? line.total_cost).startsWith("-") ? -size : size);
}

/** Reads the explanation with all its recipients. */
async function explained(
  app: FastifyInstance,
  path: string,
): Promise<{ response: ExplanationBody; everybody: Recipient[] }> {
  const pages: ExplanationBody[] = [];
  do {
    const { status, body } = await get(app, `${path}&page_size=1000&page=${pages.length + 1}`);
    if (status !== 200) throw new Error(`${path}: ${status} ${JSON.stringify(body)}`);
    pages.push(body);
  } while (pages.length < (pages[0]?.recipients.pages ?? 0));
  const [response] = pages;
  if (response === undefined) throw new Error("no page");
  return { response, everybody: pages.flatMap(({ recipients }) => recipients.items) };
}

/** Adds up what the bill states about the price of a line; undefined if the explanation shows no product. */
export function billedCost({ line }: ExplanationBody): string | undefined {
  const priced = line?.priced ?? undefined;
  if (priced === undefined) return undefined;
  const fine = SCALE * 10n ** 12n;
  const units = (text: string) => {
    const [whole = "", fraction = ""] = text.replace("-", "").split(".");
    const size = BigInt(whole + fraction.padEnd(30, "0"));
    return text.startsWith("-") ? -size : size;
  };
  const products = priced.products.map(({ quantity, unit_price, amount }) => {
    if (units(quantity) * units(unit_price) !== units(amount) * fine)
      throw new Error(`${quantity} × ${unit_price} is not ${amount}`);
    return units(amount);
  });
  const sum = [...products, ...priced.reductions.map(({ amount }) => -units(amount))].reduce(
    (total, each) => total + each,
    0n,
  );
  if (sum % 10n ** 12n !== 0n) return `${sum} of 1e-30`;
  return plain(sum / 10n ** 12n);
}

/** Checks all amounts of a row. A correct row returns a value that equals `sound`. */
export async function soundness(app: FastifyInstance, path: string) {
  const { response, everybody } = await explained(app, path);
  const { rule, split, line, row, tiers, samples } = response;
  const again = recalculated(response, everybody);
  const shown = Object.fromEntries(everybody.map(({ identity_id, amount }) => [identity_id, amount]));
  const wrong = Object.keys(again.amounts).filter((who) => again.amounts[who] !== shown[who]);
  const sum = everybody.reduce((total, { amount }) => total + scaled(amount), 0n);
  const component = rule?.components.find((each) => each.component === componentOf(response));
  const measured = samples.reduce((total, { quantity }) => total + scaled(quantity), 0n);
  const used = tiers?.find(({ outcome }) => outcome === "used");
  const passed = tiers?.filter(({ tier }) => tier < row.tier).map(({ outcome }) => outcome) ?? [];
  return {
    response,
    everybody,
    faults: [
      response.weights_kept ? "" : "the weights are not kept",
      wrong.length === 0 ? "" : `other amounts: ${wrong.join()}`,
      Object.keys(shown).length === response.recipients.total ? "" : "recipients are missing",
      again.line === (response.taken ?? line?.total_cost) ? "" : "components are not the line",
      plain(sum) === component?.amount ? "" : "recipients are not the component",
      again.componentAmount === component?.amount ? "" : "another component",
      shown[response.identity_id] === row.amount && response.this.amount === row.amount
        ? ""
        : "another amount",
      everybody.every((each) => amountOf(response, each) === each.amount) ? "" : "ticks are not the amounts",
      again.points.join() ===
      [rule?.rounding_offset, rule?.residue_point, split?.rounding_offset, split?.residue_point].join()
        ? ""
        : `other points: ${again.points.join()}`,
      plain(again.total) === split?.total_weight ? "" : "another total weight",
      row.allocation_method === "usage_ratio" && plain(measured) !== response.this.weight
        ? "other samples"
        : "",
      used?.tier === row.tier || rule?.given_up ? "" : "another tier",
      [undefined, line?.total_cost].includes(billedCost(response)) ? "" : "the bill does not multiply out",
      passed.includes("unclear") ? "a tier that was passed over for no reason" : "",
    ].filter((fault) => fault !== ""),
  };
}
