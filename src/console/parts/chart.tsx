/** Costs over time, stacked: bars, or areas where there are many. SVG, so that every part has a title and can be found and clicked. */
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { approximate, type Decimal, plainText, shownAmount, sumOf, zero } from "../money/decimal.js";
import { en } from "../text/en.js";

export interface Series {
  readonly key: string;
  readonly name: string;
  /** From 1, as `--series-N` of the style sheet; 0 is what is left over. */
  readonly color: number;
  /** One for each bucket. */
  readonly values: readonly Decimal[];
}

export interface Bucket {
  readonly label: string;
  /** Place among those that have costs; below 0 where it has none. */
  readonly at: number;
  /** Which of its days are shown, where some are not. */
  readonly note: string | undefined;
}

interface ChartProps {
  readonly title: string;
  readonly buckets: readonly Bucket[];
  /** For the axis; in full where there is room. */
  readonly bucketName: (bucket: string, withYear?: boolean) => string;
  readonly series: readonly Series[];
  readonly currency: string;
  readonly kind?: "bars" | "area";
  readonly onPick?: ((series: Series, bucket: string) => void) | undefined;
}

const HEIGHT = 260;
const MARGIN = { top: 8, right: 8, bottom: 24, left: 64 };
const MOST_BARS = 130;
/** Of the style sheet's font for ticks; a little more than most letters take. */
const LETTER_PX = 6.5;

export function Chart({ title, buckets, bucketName, series, currency, kind = "bars", onPick }: ChartProps) {
  const { frame, width } = useWidth();
  const [at, setAt] = useState<number>();
  const stacks = stacked(series, buckets.length);
  const scale = scaleOf(stacks);
  const inner = {
    width: Math.max(60, width - MARGIN.left - MARGIN.right),
    height: HEIGHT - MARGIN.top - MARGIN.bottom,
  };
  const step = inner.width / Math.max(1, buckets.length);
  const y = (value: number) =>
    MARGIN.top + inner.height * (1 - (value - scale.low) / (scale.high - scale.low));
  const x = (index: number) => MARGIN.left + index * step;
  const asArea = kind === "area" || buckets.length > MOST_BARS;
  // All labels have about as many letters as the last.
  const labelPx = LETTER_PX * bucketName(buckets.at(-1)?.label ?? "").length;
  const every = Math.ceil(buckets.length / Math.max(1, Math.floor(inner.width / Math.max(72, labelPx + 18))));
  const hovered = at === undefined ? undefined : buckets[at];
  const hatch = useId();
  // Where nothing has been charged yet, an area is none.
  const from = buckets.findIndex((bucket) => bucket.at >= 0);
  const to = buckets.reduce((last, bucket, index) => (bucket.at >= 0 ? index : last), -1);
  const partial = buckets.flatMap(({ label, at, note }, index) =>
    note === undefined || at < 0 ? [] : [{ index, text: en.chart.partialBucket(bucketName(label), note) }],
  );
  return (
    <figure class="chart" ref={frame}>
      <figcaption class="unseen">{title}</figcaption>
      <svg
        width={width}
        height={HEIGHT}
        role="img"
        aria-label={en.chart.label(title, currency)}
        onPointerMove={({ clientX, currentTarget }) => {
          const index = Math.floor(
            (clientX - currentTarget.getBoundingClientRect().left - MARGIN.left) / step,
          );
          setAt(buckets[index] === undefined ? undefined : index);
        }}
        onPointerLeave={() => setAt(undefined)}
      >
        {partial.length > 0 && (
          <defs>
            <pattern
              id={hatch}
              width={6}
              height={6}
              patternUnits="userSpaceOnUse"
              patternTransform="rotate(45)"
            >
              <rect class="gap" width={3} height={6} />
            </pattern>
          </defs>
        )}
        {at !== undefined && (
          <rect class="hover" x={x(at)} width={step} y={MARGIN.top} height={inner.height} />
        )}
        {scale.ticks.map((tick) => (
          <g key={tick}>
            <line
              class={tick === 0 ? "axis" : "grid"}
              x1={MARGIN.left}
              x2={MARGIN.left + inner.width}
              y1={y(tick)}
              y2={y(tick)}
            />
            <text class="tick" x={MARGIN.left - 8} y={y(tick)} text-anchor="end" dominant-baseline="middle">
              {shortNumber(tick)}
            </text>
          </g>
        ))}
        {buckets.map(({ label }, index) =>
          index % every === 0 && x(index) + step / 2 + labelPx / 2 <= width ? (
            <text key={label} class="tick" x={x(index) + step / 2} y={HEIGHT - 6} text-anchor="middle">
              {bucketName(label)}
            </text>
          ) : null,
        )}
        {asArea
          ? stacks.map(({ series: each, spans }) => (
              <path
                key={each.key}
                class={`series color-${each.color}`}
                d={areaPath(spans, { from, to, x, y, step })}
              />
            ))
          : stacks.flatMap(({ series: each, spans }) =>
              spans.map(([low, high], index) =>
                high === low ? null : (
                  // biome-ignore lint/a11y/noStaticElementInteractions: the table below has the same links for the keyboard
                  <rect
                    key={`${each.key} ${index}`}
                    class={`series color-${each.color}${onPick === undefined ? "" : " pickable"}`}
                    x={x(index) + Math.min(step * 0.1, 3)}
                    width={Math.max(1, step - 2 * Math.min(step * 0.1, 3))}
                    y={y(high)}
                    height={Math.max(0.5, y(low) - y(high))}
                    onClick={onPick && (() => onPick(each, buckets[index]?.label ?? ""))}
                  />
                ),
              ),
            )}
        {partial.map(({ index }) => (
          <rect
            key={index}
            class="partial"
            x={x(index)}
            width={step}
            y={MARGIN.top}
            height={inner.height}
            fill={`url(#${hatch})`}
          />
        ))}
      </svg>
      {at !== undefined && hovered !== undefined && (
        <Tip
          series={series}
          index={at}
          bucket={hovered}
          name={bucketName(hovered.label, true)}
          currency={currency}
          left={Math.min(Math.max(x(at) + step / 2, 130), Math.max(130, width - 130))}
        />
      )}
      <ul class="legend">
        {series.map((each) => (
          <li key={each.key}>
            <span class={`swatch color-${each.color}`} aria-hidden="true" /> <bdi>{each.name}</bdi>
          </li>
        ))}
      </ul>
      {partial.length > 0 && <p class="hint">{en.chart.partials(partial.map(({ text }) => text))}</p>}
    </figure>
  );
}

interface TipProps extends Pick<ChartProps, "series" | "currency"> {
  readonly index: number;
  readonly bucket: Bucket;
  readonly name: string;
  readonly left: number;
}

function Tip({ series, index, bucket, name, currency, left }: TipProps) {
  const values = series.flatMap((each) => {
    const value = each.values[index];
    return value === undefined || value.units === 0n ? [] : [{ each, value }];
  });
  return (
    <div class="tip" style={{ left: `${left}px` }}>
      <strong>{name}</strong>
      {bucket.note !== undefined && <div>{bucket.note}</div>}
      {bucket.at < 0 && <div>{en.chart.none}</div>}
      <table hidden={bucket.at < 0}>
        <tbody>
          {values.map(({ each, value }) => (
            <tr key={each.key}>
              <th scope="row">
                <span class={`swatch color-${each.color}`} /> <bdi>{each.name}</bdi>
              </th>
              <td title={plainText(value)}>{shownAmount(value).main}</td>
            </tr>
          ))}
          <tr class="sum">
            <th scope="row">{en.total}</th>
            <td>
              {shownAmount(sumOf(values.map(({ value }) => value))).main} {currency}
            </td>
          </tr>
        </tbody>
      </table>
    </div>
  );
}

/** From where to where each part of a bucket reaches: what is below zero hangs down from it. */
interface Stack {
  readonly series: Series;
  readonly spans: readonly (readonly [low: number, high: number])[];
}

function stacked(series: readonly Series[], buckets: number): Stack[] {
  const up = new Array<number>(buckets).fill(0);
  const down = new Array<number>(buckets).fill(0);
  return series.map((each) => ({
    series: each,
    spans: Array.from({ length: buckets }, (_, index) => {
      const value = approximate(each.values[index] ?? zero);
      const from = (value < 0 ? down[index] : up[index]) ?? 0;
      if (value < 0) down[index] = from + value;
      else up[index] = from + value;
      return value < 0 ? [from + value, from] : [from, from + value];
    }),
  }));
}

function scaleOf(stacks: readonly Stack[]) {
  let low = 0;
  let high = 0;
  for (const { spans } of stacks)
    for (const [from, to] of spans) {
      low = Math.min(low, from);
      high = Math.max(high, to);
    }
  if (low === high) high = 1;
  const raw = (high - low) / 4;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = ([1, 2, 2.5, 5, 10].find((each) => each * power >= raw) ?? 10) * power;
  const first = Math.floor(low / step);
  const last = Math.ceil(high / step);
  const ticks = Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step);
  return { low: first * step, high: last * step, ticks };
}

interface Area {
  /** First and last bucket that have costs. */
  readonly from: number;
  readonly to: number;
  readonly x: (index: number) => number;
  readonly y: (value: number) => number;
  readonly step: number;
}

function areaPath(spans: Stack["spans"], { from, to, x, y, step }: Area): string {
  const at = (index: number) => (x(from + index) + step / 2).toFixed(1);
  const drawn = from < 0 ? [] : spans.slice(from, to + 1);
  if (drawn.length === 0) return "";
  const upper = drawn.map(([, high], index) => `${at(index)},${y(high).toFixed(1)}`);
  const lower = drawn.map(([low], index) => `${at(index)},${y(low).toFixed(1)}`).reverse();
  return `M${[...upper, ...lower].join("L")}Z`;
}

const short = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });
const shortNumber = (value: number) => short.format(value).replace("-", "−");

function useWidth() {
  const frame = useRef<HTMLElement>(null);
  const [width, setWidth] = useState(720);
  useLayoutEffect(() => {
    const element = frame.current;
    if (element === null) return;
    const observer = new ResizeObserver(() => setWidth(element.clientWidth));
    observer.observe(element);
    setWidth(element.clientWidth);
    return () => observer.disconnect();
  }, []);
  return { frame, width };
}
