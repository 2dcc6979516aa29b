/** Stacked chart of costs over time: bars, or areas if there are many buckets. SVG, so that each bar can be clicked. */
import { useId, useLayoutEffect, useRef, useState } from "preact/hooks";
import { sumOf } from "../../common/exact-decimal.js";
import { moneyText } from "../../common/figures.js";
import { follow } from "../state/follow.js";
import { en } from "../text/en.js";
import type { ChartMark } from "./chart-marks.js";
import { areaPath, scaleOf, shortNumber, stacked } from "./chart-scale.js";
import { type ChartBucket, type ChartSeries, Swatch, Tip, valuesOf } from "./chart-tip.js";
import { Link } from "./link.js";

interface ChartProps {
  readonly title: string;
  readonly buckets: readonly ChartBucket[];
  /** The name of a bucket: short for the axis, with the year for the tooltip. */
  readonly bucketName: (bucket: string, withYear?: boolean) => string;
  readonly series: readonly ChartSeries[];
  readonly currency: string;
  readonly kind?: "bars" | "area";
  readonly marks?: readonly ChartMark[];
}

const HEIGHT = 260;
const MARGIN = { top: 8, right: 8, bottom: 24, left: 64 };
const MAX_BARS = 130;
const TIP_GAP = 8;
/** Estimated width of a character in the tick font; slightly more than most characters need. */
const LETTER_PX = 6.5;

export function Chart({
  title,
  buckets,
  bucketName,
  series,
  currency,
  kind = "bars",
  marks = [],
}: ChartProps) {
  const { frame, width } = useWidth();
  const [hoveredIndex, setHoveredIndex] = useState<number>();
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
  const asArea = kind === "area" || buckets.length > MAX_BARS;
  // All labels are about as long as the last one.
  const labelPx = LETTER_PX * bucketName(buckets.at(-1)?.label ?? "").length;
  const every = Math.ceil(buckets.length / Math.max(1, Math.floor(inner.width / Math.max(72, labelPx + 18))));
  const hovered = hoveredIndex === undefined ? undefined : buckets[hoveredIndex];
  const markOf = (bucket: number | undefined) => marks.find(({ index }) => index === bucket)?.text;
  const mark = markOf(hoveredIndex);
  /** The figures of a bucket, to be read aloud. */
  const bucketText = ({ label, position, note }: ChartBucket) => {
    const values = position < 0 ? [] : valuesOf(series, hoveredIndex ?? 0);
    const amounts = values.map(({ each, value }) => `${each.name} ${moneyText(value, currency)}`);
    const total = `${en.total} ${moneyText(sumOf(values.map(({ value }) => value)), currency)} ${currency}`;
    const parts = values.length === 0 ? [en.chart.none] : [total, ...amounts];
    const words = parts.concat(mark ?? []).join("; ");
    return `${[bucketName(label, true), ...(note === undefined ? [] : [note])].join(", ")}: ${words}`;
  };
  const hatch = useId();
  // An area covers only the buckets from the first to the last that have costs.
  const from = buckets.findIndex((bucket) => bucket.position >= 0);
  const to = buckets.reduce((last, bucket, index) => (bucket.position >= 0 ? index : last), -1);
  const partial = buckets.flatMap(({ label, position, note }, index) =>
    note === undefined || position < 0
      ? []
      : [{ index, text: en.chart.partialBucket(bucketName(label), note) }],
  );
  return (
    <figure class="chart" ref={frame}>
      <figcaption class="unseen">{title}</figcaption>
      {/* A slider: its keys move from bucket to bucket, and a screen reader says the text of each. */}
      <div
        role="slider"
        tabIndex={0}
        aria-label={en.chart.label(title, currency)}
        aria-valuemin={0}
        aria-valuemax={Math.max(0, buckets.length - 1)}
        aria-valuenow={hoveredIndex ?? 0}
        aria-valuetext={hovered === undefined ? en.chart.keys : bucketText(hovered)}
        onFocus={() => setHoveredIndex((index) => index ?? 0)}
        onBlur={() => setHoveredIndex(undefined)}
        onKeyDown={(event) => {
          const next = indexAfter(event.key, hoveredIndex ?? 0, buckets.length);
          if (next === undefined) return;
          event.preventDefault();
          setHoveredIndex(next);
        }}
      >
        <svg
          width={width}
          height={HEIGHT}
          aria-hidden="true"
          onPointerMove={({ clientX, currentTarget }) => {
            const index = Math.floor(
              (clientX - currentTarget.getBoundingClientRect().left - MARGIN.left) / step,
            );
            setHoveredIndex(buckets[index] === undefined ? undefined : index);
          }}
          onPointerLeave={() => setHoveredIndex(undefined)}
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
          {hoveredIndex !== undefined && (
            <rect class="hover" x={x(hoveredIndex)} width={step} y={MARGIN.top} height={inner.height} />
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
                  class="series"
                  style={{ fill: each.color }}
                  d={areaPath(spans, { from, to, x, y, step })}
                />
              ))
            : stacks.flatMap(({ series: each, spans }) =>
                spans.map(([low, high], index) =>
                  high === low ? null : (
                    // biome-ignore lint/a11y/noStaticElementInteractions: the table below has the same links for the keyboard
                    <rect
                      key={`${each.key} ${index}`}
                      class={each.href === undefined ? "series" : "series pickable"}
                      style={{ fill: each.color }}
                      x={x(index) + Math.min(step * 0.1, 3)}
                      width={Math.max(1, step - 2 * Math.min(step * 0.1, 3))}
                      y={y(high)}
                      height={Math.max(0.5, y(low) - y(high))}
                      onClick={() => each.href !== undefined && follow(each.href)}
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
          {marks.map(({ index }) => (
            <path
              key={index}
              class="mark"
              d={`M${x(index) - 5},0h10l-5,${MARGIN.top}zm5,${MARGIN.top}v${inner.height}`}
            />
          ))}
        </svg>
      </div>
      {hoveredIndex !== undefined && hovered !== undefined && (
        <Tip
          series={series}
          index={hoveredIndex}
          bucket={hovered}
          name={bucketName(hovered.label, true)}
          mark={mark}
          currency={currency}
          position={
            x(hoveredIndex) + step / 2 < width / 2
              ? { left: `${x(hoveredIndex) + step + TIP_GAP}px` }
              : { right: `${width - x(hoveredIndex) + TIP_GAP}px` }
          }
        />
      )}
      <ul class="legend">
        {series.map((each) => (
          <li key={each.key}>
            <Swatch color={each.color} />{" "}
            {each.href === undefined ? (
              <bdi>{each.name}</bdi>
            ) : (
              <Link href={each.href}>
                <bdi>{each.name}</bdi>
              </Link>
            )}
          </li>
        ))}
      </ul>
      {partial.length > 0 && <p class="hint">{en.chart.partials(partial.map(({ text }) => text))}</p>}
    </figure>
  );
}

/** The bucket that a key leads to; undefined for keys without a meaning here. */
function indexAfter(key: string, index: number, count: number): number | undefined {
  if (key === "ArrowRight" || key === "ArrowUp") return Math.min(index + 1, count - 1);
  if (key === "ArrowLeft" || key === "ArrowDown") return Math.max(index - 1, 0);
  return key === "Home" ? 0 : key === "End" ? count - 1 : undefined;
}

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
