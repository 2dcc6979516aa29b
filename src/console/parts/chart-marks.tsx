/** Marks on a chart over time: days with an event that explains the costs after it. */
import type { CostEvent } from "../api/comparison.js";
import { bucketOfDay } from "../state/buckets.js";
import { changed, type Place } from "../state/location.js";
import { marksTexts as text } from "../text/marks.js";
import type { ChartBucket } from "./chart-tip.js";
import { Link } from "./link.js";

export interface ChartMark {
  /** Index of the bucket. */
  readonly index: number;
  readonly text: string;
}

/** More marks than this would hide the costs. The latest are shown. */
const MAX_MARKS = 5;

/** One mark for each bucket, by day, with all that happened in it. */
export function marksOf(
  events: readonly CostEvent[],
  buckets: readonly ChartBucket[],
  length: string,
): ChartMark[] {
  const texts = new Map<number, string[]>();
  for (const event of events) {
    const index = buckets.findIndex(({ label }) => label === bucketOfDay(event.day, length));
    const words = text.on(event.day, text[event.kind](event));
    if (index >= 0) texts.set(index, [...(texts.get(index) ?? []), words]);
  }
  return [...texts].map(([index, all]) => ({ index, text: all.join("; ") }));
}

export const latestMarks = (marks: readonly ChartMark[]) => marks.slice(-MAX_MARKS);

/** Whether the reader wants marks. `marks=none` in the address turns them off. */
export const hasMarks = ({ query }: Place) => query.get("marks") !== "none";

/** The marks in words, and a link that turns them off or on. */
export function MarkList({ place, marks }: { readonly place: Place; readonly marks: readonly ChartMark[] }) {
  if (marks.length === 0) return null;
  const isShown = hasMarks(place);
  const shown = isShown ? latestMarks(marks) : [];
  return (
    <ul class="marks hint">
      {shown.map((mark) => (
        <li key={mark.index}>
          <bdi>{mark.text}</bdi>
        </li>
      ))}
      {isShown && marks.length > shown.length && <li>{text.earlier(marks.length - shown.length)}</li>}
      <li>
        <Link href={changed(place, { marks: isShown ? "none" : undefined })}>
          {isShown ? text.hide : text.show}
        </Link>
      </li>
    </ul>
  );
}
