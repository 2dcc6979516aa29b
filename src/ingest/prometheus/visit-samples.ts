/** Visits the samples of a response one by one, and reports those that are no amount of the requested steps. */
import { type Exact, parseExact } from "../../common/exact-decimal.js";
import { amountAt, type MicroAmount, microAmount } from "../micro-units.js";
import { coveredFrom, type PointRange } from "./points.js";
import { areBytes, isSample, type PrometheusSeries } from "./response.js";
import { scanSamples } from "./sample-bytes.js";

/** `from`: start of the step that the sample covers, in seconds since 1970. */
export type SampleVisitor = (labels: Labels, from: number, value: Exact) => void;
/** Called once for each series. The returned function is called for each of its samples. */
export type SeriesVisitor = (labels: Labels) => (from: number, value: MicroAmount) => void;

export type Labels = Readonly<Record<string, string>>;

export type DropReason = "outside_window" | "not_finite" | "negative" | "malformed";
export type Dropped = (reason: DropReason) => void;

/** Returns the visitors of the samples of a response. */
export function visiting(series: readonly PrometheusSeries[], range: PointRange, dropped: Dropped) {
  return {
    each(visit: SampleVisitor) {
      const ofSeries = (labels: Labels) => (from: number, value: Exact) => visit(labels, from, value);
      visitSamples(series, { range, dropped, reader: exactly, ofSeries });
    },
    eachSeries(ofSeries: SeriesVisitor) {
      visitSamples(series, { range, dropped, reader: asAmounts, ofSeries });
    },
  };
}

/** Parses the text of a sample. Undefined if it is not an amount. */
interface ValueReader<Value> {
  ofText(text: string): Value | undefined;
  ofBytes(bytes: Buffer, from: number, to: number): Value | undefined;
}

const asAmounts: ValueReader<MicroAmount> = { ofText: microAmount, ofBytes: amountAt };
const exactly: ValueReader<Exact> = {
  ofText: exactAmount,
  ofBytes: (bytes, from, to) => exactAmount(bytes.toString("latin1", from, to)),
};

function exactAmount(text: string): Exact | undefined {
  const value = parseExact(text);
  return value === undefined || value.units < 0n ? undefined : value;
}

interface Visiting<Value> {
  readonly range: PointRange;
  readonly dropped: Dropped;
  readonly reader: ValueReader<Value>;
  readonly ofSeries: (labels: Labels) => (from: number, value: Value) => void;
}

function visitSamples<Value>(
  series: readonly PrometheusSeries[],
  { range: { first, last, stepSeconds }, dropped, reader, ofSeries }: Visiting<Value>,
): void {
  const isOutside = (at: number) => at < first || at > last || (at - first) % stepSeconds !== 0;
  for (const { labels, samples } of series) {
    const visit = ofSeries(labels);
    if (areBytes(samples)) {
      const { bytes } = samples;
      scanSamples(bytes, samples.from, (at, from, to) => {
        if (isOutside(at)) return dropped("outside_window");
        const value = reader.ofBytes(bytes, from, to);
        if (value === undefined) dropped(whyNoAmount(bytes.toString("latin1", from, to)));
        else visit(coveredFrom(at, stepSeconds), value);
      });
      continue;
    }
    for (const sample of samples) {
      if (!isSample(sample)) {
        dropped("malformed");
        continue;
      }
      const [at, text] = sample;
      if (isOutside(at)) {
        dropped("outside_window");
        continue;
      }
      const value = reader.ofText(text);
      if (value === undefined) dropped(whyNoAmount(text));
      else visit(coveredFrom(at, stepSeconds), value);
    }
  }
}

function whyNoAmount(text: string): DropReason {
  if (parseExact(text) !== undefined) return "negative";
  return /^[+-]?(nan|inf)/i.test(text) ? "not_finite" : "malformed";
}
