/** Whether a series of counts grows, or only moves about. */

/** So many are no growth, however even a series is: connections that are kept for the next request, and the like. */
const NO_GROWTH = 4;
/** What a series moves about is no growth either: its line has to rise by more than so many times the distance of its points from it. */
const NOISE = 3;

export interface Growth {
  /** Of the line through the points (least squares), for each second. */
  readonly slope: number;
  /** From the line's start to its end, it rises by more than the points move about it. */
  readonly grows: boolean;
}

export function growthOf(points: readonly (readonly [seconds: number, count: number])[]): Growth {
  const { length } = points;
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / length;
  const [x, y] = [mean(points.map(([seconds]) => seconds)), mean(points.map(([, count]) => count))];
  const spread = mean(points.map(([seconds]) => (seconds - x) ** 2));
  const slope =
    spread === 0 ? 0 : mean(points.map(([seconds, count]) => (seconds - x) * (count - y))) / spread;
  const distance = Math.sqrt(
    mean(points.map(([seconds, count]) => (count - y - slope * (seconds - x)) ** 2)),
  );
  const seconds = (points.at(-1)?.[0] ?? 0) - (points[0]?.[0] ?? 0);
  return { slope, grows: slope * seconds > NO_GROWTH + NOISE * distance };
}
