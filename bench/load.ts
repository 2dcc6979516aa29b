/** Clients that request one address repeatedly, and the times of the responses. */
import autocannon from "autocannon";

export interface BenchLoadOptions {
  readonly connections: number;
  readonly seconds: number;
  /**
   * Requests per second of each connection. If undefined, each connection sends the next request after the response.
   */
  readonly rate?: number;
}

export interface BenchLoad {
  /** Milliseconds of responses with 2xx, ascending. */
  readonly durations: readonly number[];
  /** Responses with 2xx. */
  readonly perSecond: number;
  /** Number of responses by other status. */
  readonly others: Readonly<Record<number, number>>;
  /** Requests that failed without a response. */
  readonly broken: number;
}

/** Longer than the service takes for a response, with any settings. */
const PATIENCE_SECONDS = 310;

/** Requests in flight at the end are abandoned. */
export async function putLoad(
  url: string,
  { connections, seconds, rate }: BenchLoadOptions,
): Promise<BenchLoad> {
  const durations: number[] = [];
  const others: Record<number, number> = {};
  const result = await new Promise<autocannon.Result>((resolve, reject) => {
    const paced = rate === undefined ? {} : { connectionRate: rate };
    const options = { url, connections, duration: seconds, timeout: PATIENCE_SECONDS, ...paced };
    const running = autocannon(options, (error: unknown, done) => (error ? reject(error) : resolve(done)));
    running.on("response", (_client, status, _bytes, ms) => {
      if (status >= 200 && status < 300) durations.push(ms);
      else others[status] = (others[status] ?? 0) + 1;
    });
  });
  durations.sort((a, b) => a - b);
  return { durations, perSecond: durations.length / result.duration, others, broken: result.errors };
}

/** Returns the percentile `part` (from 0 to 1) of the values; NaN if there are none. */
export function percentile(ascending: readonly number[], part: number): number {
  return ascending[Math.max(0, Math.ceil(ascending.length * part) - 1)] ?? Number.NaN;
}
