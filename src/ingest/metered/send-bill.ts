/** The bill of a metered tenant: a line for each product and day with a price. */
import { DAY_SECONDS } from "../../common/days.js";
import { sumText } from "../../common/exact-decimal.js";
import type { BillingLine, UsageGap, WindowSink } from "../ecosystem.js";
import type { BilledAmount, DayRemark, WindowReport } from "../reports.js";
import type { CostSamples } from "./cost-samples.js";
import { dayRanges } from "./day-ranges.js";
import type { MeteredTenant } from "./metered-tenant.js";
import { type MeteredProduct, priceDay } from "./price-day.js";

type BilledTenant = Pick<MeteredTenant, "resourceId" | "currency" | "stepSeconds" | "whenUnmeasured">;

export interface Measured {
  readonly product: MeteredProduct;
  readonly samples: CostSamples;
}

export interface SentBill extends Pick<WindowReport, "completeDays" | "partialDays" | "errors" | "billed"> {
  /**
   * Day → product → its cost as a plain decimal, including days that are not billed. A product without a price is left
   * out.
   */
  readonly costs: ReadonlyMap<string, ReadonlyMap<string, string>>;
}

/** Sends the lines of the days that can be billed. */
export async function sendBill(
  tenant: BilledTenant,
  days: readonly string[],
  measured: readonly Measured[],
  sink: WindowSink,
): Promise<SentBill> {
  const costs = new Map<string, ReadonlyMap<string, string>>();
  const billed: BilledAmount[] = [];
  const completeDays: string[] = [];
  const partialDays: string[] = [];
  const missing: UsageGap[] = [];
  for (const day of days) {
    const { lines, unmeasured } = priceOf(tenant, day, measured);
    missing.push(...unmeasured);
    costs.set(day, costsByProduct(lines));
    const isPartly = measured.every(({ product, samples }) =>
      unmeasured.every(({ metric }) => metric !== product.name || samples.partly.has(day)),
    );
    const isBilled = tenant.whenUnmeasured === "partial_bill" || isPartly;
    if (unmeasured.length > 0 && (!isBilled || lines.length === 0)) continue;
    billed.push({
      day,
      currency: tenant.currency,
      amount: sumText(lines.map(({ total_cost }) => total_cost)),
    });
    await sink.billing(
      unmeasured.length === 0 ? lines : lines.map((line) => withUnmeasured(line, unmeasured)),
    );
    (unmeasured.length === 0 ? completeDays : partialDays).push(day);
  }
  // As gaps of usage they make the day provisional; after a few runs it is final without them.
  await sink.usageGaps(missing.filter(({ day }) => partialDays.includes(day)));
  const errors = dayRanges(
    missing
      .filter(({ day }) => !partialDays.includes(day))
      .map(({ day, metric, reason }) => ({ day, reason: `${metric}: ${reason}` })),
  );
  return { completeDays, ...(partialDays.length > 0 ? { partialDays } : {}), errors, billed, costs };
}

/** Product → its cost as a plain decimal. */
function costsByProduct(lines: readonly BillingLine[]): ReadonlyMap<string, string> {
  return new Map(lines.map(({ product_type, total_cost }) => [product_type, total_cost]));
}

/** Returns the same costs as `sendBill`, without sending anything. */
export function costsOf(
  tenant: BilledTenant,
  days: readonly string[],
  measured: readonly Measured[],
): SentBill["costs"] {
  return new Map(days.map((day) => [day, costsByProduct(priceOf(tenant, day, measured).lines)]));
}

const NO_SAMPLES =
  "the cost query has no samples, so the cost is unknown (when the upstream does not keep data so long, lower lookback_days)";

function priceOf(
  { resourceId, currency, stepSeconds }: BilledTenant,
  day: string,
  measured: readonly Measured[],
) {
  const lines: BillingLine[] = [];
  const unmeasured: UsageGap[] = [];
  for (const { product, samples } of measured) {
    const failure = samples.failed.get(day) ?? samples.partly.get(day);
    const sums = samples.sums.get(day) ?? new Map();
    const expectedSamples = DAY_SECONDS / stepSeconds;
    const line =
      failure === undefined
        ? priceDay({
            resourceId,
            currency,
            day,
            product,
            sums,
            expectedSamples,
            onlyMeasured: samples.first?.day === day,
          })
        : undefined;
    if (line !== undefined) lines.push(line);
    else
      unmeasured.push({ day, metric: product.name, resource_id: resourceId, reason: failure ?? NO_SAMPLES });
  }
  return { lines, unmeasured };
}

/** Notes the unmeasured products on the lines of a partial bill, so that it is not mistaken for a whole one. */
function withUnmeasured(line: BillingLine, unmeasured: readonly UsageGap[]): BillingLine {
  return { ...line, metadata: { ...line.metadata, unmeasured: unmeasured.map(({ metric }) => metric) } };
}

/** Notes about lines that cost less because their first day is measured in part. */
export function firstDayNotes(measured: readonly Measured[]): DayRemark[] {
  return measured.flatMap(({ product, samples: { first } }) =>
    first === undefined
      ? []
      : [
          {
            day: first.day,
            remark: `${first.day} is the first day with samples: ${product.name} is priced by the ${first.size} that were measured`,
          },
        ],
  );
}
