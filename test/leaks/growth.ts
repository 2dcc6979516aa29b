/** Decides whether a series of counts grows, or only varies. */

/**
 * A rise of up to this many is not growth, however even the series is. Connections that are kept for the next request
 * cause it.
 */
const NO_GROWTH = 4;
/**
 * Variation is not growth either: the line has to rise by more than this many times the distance of the points from it.
 */
const NOISE = 3;

export interface Growth {
  /** The slope per second of the line through the points, by least squares. */
  readonly slope: number;
  /** The line rises by this much from its start to its end. */
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
