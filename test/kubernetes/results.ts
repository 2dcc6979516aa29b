/** Results of a query on a real Prometheus, as a run asks for them. */
import { midnightSeconds } from "../../src/common/days.js";
import { PASSWORD } from "../ingest/prometheus/real-prometheus.js";

interface Matrix {
  readonly status: string;
  readonly error?: string;
  readonly data?: {
    readonly result: readonly {
      readonly metric: Readonly<Record<string, string>>;
      readonly values: readonly (readonly [number, string])[];
    }[];
  };
}

/** Returns the values of each series in the hours of the day, rounded to millionths, by its sorted label values. */
export async function hoursOf(url: string, query: string, day: string): Promise<Record<string, number[]>> {
  const midnight = midnightSeconds(day);
  const response = await fetch(`${url}/api/v1/query_range`, {
    method: "POST",
    headers: { authorization: `Basic ${Buffer.from(`me:${PASSWORD}`).toString("base64")}` },
    body: new URLSearchParams({
      query: query.replaceAll("$step", "3600s"),
      start: `${midnight + 3600}`,
      end: `${midnight + 86_400}`,
      step: "3600",
    }),
  });
  const { data, error }: Matrix = JSON.parse(await response.text());
  if (data === undefined) throw new Error(error);
  return Object.fromEntries(
    data.result
      .map(({ metric, values }) => {
        const { __name__: _, ...labels } = metric;
        const name = Object.keys(labels)
          .sort()
          .reverse()
          .map((label) => labels[label])
          .join(" ");
        return [name, values.map(([, value]) => Math.round(Number(value) * 1e6) / 1e6)] as const;
      })
      .sort(([one], [other]) => (one < other ? -1 : 1)),
  );
}

/** Returns the value of each series, which must be the same in every hour of the day. */
export async function wholeDayOf(url: string, query: string, day: string): Promise<Record<string, number>> {
  const hours = await hoursOf(url, query, day);
  return Object.fromEntries(
    Object.entries(hours).map(([name, values]) => {
      const [value = Number.NaN] = values;
      if (values.length !== 24 || values.some((each) => each !== value))
        throw new Error(`${name} differs from hour to hour: ${values.join(", ")}`);
      return [name, value];
    }),
  );
}
