/** The figures of one bucket of a chart, beside its bars. */
import { type Exact, sumOf } from "../../common/exact-decimal.js";
import { en } from "../text/en.js";
import { AmountCell } from "./amount.js";

export interface ChartSeries {
  readonly key: string;
  readonly name: string;
  /** A colour in CSS. */
  readonly color: string;
  /** Address that its bars and its entry in the legend lead to. */
  readonly href?: string | undefined;
  /** One value for each bucket. */
  readonly values: readonly Exact[];
}

export interface ChartBucket {
  readonly label: string;
  /** Position among the buckets that have costs; negative if this one has none. */
  readonly position: number;
  /** How many of its days are shown, if only some are. */
  readonly note: string | undefined;
}

/** The series that have a value in the bucket. */
export const valuesOf = (series: readonly ChartSeries[], index: number) =>
  series.flatMap((each) => {
    const value = each.values[index];
    return value === undefined || value.units === 0n ? [] : [{ each, value }];
  });

export const Swatch = ({ color }: { readonly color: string }) => (
  <span class="swatch" style={{ background: color }} aria-hidden="true" />
);

interface TipProps {
  readonly series: readonly ChartSeries[];
  readonly currency: string;
  readonly index: number;
  readonly bucket: ChartBucket;
  readonly name: string;
  /** Events in the bucket. */
  readonly mark: string | undefined;
  /** Beside the bars that it is about, so that it covers none of them. */
  readonly position: { readonly left: string } | { readonly right: string };
}

export function Tip({ series, index, bucket, name, mark, currency, position }: TipProps) {
  const values = valuesOf(series, index);
  return (
    <div class="tip" aria-hidden="true" style={position}>
      <strong>{name}</strong>
      {mark !== undefined && (
        <div>
          <bdi>{mark}</bdi>
        </div>
      )}
      {bucket.note !== undefined && <div>{bucket.note}</div>}
      {bucket.position < 0 && <div>{en.chart.none}</div>}
      <table hidden={bucket.position < 0}>
        <tbody>
          {values.map(({ each, value }) => (
            <tr key={each.key}>
              <th scope="row">
                <Swatch color={each.color} /> <bdi>{each.name}</bdi>
              </th>
              <td>
                <AmountCell value={value} currency={currency} isNamed />
              </td>
            </tr>
          ))}
          <tr class="sum">
            <th scope="row">{en.total}</th>
            <td>
              <AmountCell value={sumOf(values.map(({ value }) => value))} currency={currency} />
            </td>
          </tr>
        </tbody>
      </table>
    </div>
  );
}
