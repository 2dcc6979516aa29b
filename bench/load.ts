/** Clients that ask for one address again and again, and what each answer took. */
import autocannon from "autocannon";

export interface LoadOptions {
  readonly connections: number;
  readonly seconds: number;
  /** Requests a second of each connection; without it, each asks again as soon as it is answered. */
  readonly rate?: number;
}

export interface Load {
  /** Milliseconds of the answers with 2xx, ascending. */
  readonly taken: readonly number[];
  /** Responses with 2xx. */
  readonly perSecond: number;
  /** How often each other status was answered. */
  readonly others: Readonly<Record<number, number>>;
  /** Requests that broke off without an answer. */
  readonly broken: number;
}

/** Longer than the service takes for an answer, whatever its settings. */
const PATIENCE_SECONDS = 310;

/** What is under way at the end is abandoned. */
export async function putLoad(url: string, { connections, seconds, rate }: LoadOptions): Promise<Load> {
  const taken: number[] = [];
  const others: Record<number, number> = {};
  const result = await new Promise<autocannon.Result>((resolve, reject) => {
    const paced = rate === undefined ? {} : { connectionRate: rate };
    const options = { url, connections, duration: seconds, timeout: PATIENCE_SECONDS, ...paced };
    const running = autocannon(options, (error: unknown, done) => (error ? reject(error) : resolve(done)));
    running.on("response", (_client, status, _bytes, ms) => {
      if (status >= 200 && status < 300) taken.push(ms);
      else others[status] = (others[status] ?? 0) + 1;
    });
  });
  taken.sort((a, b) => a - b);
  return { taken, perSecond: taken.length / result.duration, others, broken: result.errors };
}

/** The value that this part (from 0 to 1) of the answers do not exceed. NaN without any. */
export function percentile(ascending: readonly number[], part: number): number {
  return ascending[Math.max(0, Math.ceil(ascending.length * part) - 1)] ?? Number.NaN;
}
