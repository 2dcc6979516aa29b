import type { QueryConfig } from "pg";

/** What some days lack, in one sentence. */
export interface LackingDays {
  readonly book: "chargebacks" | "attributions to topics";
  readonly lack: string;
  /** They are gathered again until it comes, or it is given up; else they are settled without it. */
  readonly provisional: boolean;
  /** Ascending. */
  readonly days: readonly string[];
}

/** What days lacked when they were gathered last, of each cause the days. In: tenant, first day, day after the last. */
export function lackingDays(input: { tenantName: string; start: string; end: string }): QueryConfig {
  const ofBook = (book: LackingDays["book"], state: "tracking_dates" | "topic_attribution_dates") => `
  SELECT '${book}' AS book, unnest(lacks) AS lack, provisional, tracking_date FROM ${state}
  WHERE tenant_name = $1 AND tracking_date >= $2 AND tracking_date < $3`;
  return {
    text: `
SELECT book, lack, provisional, array_agg(to_char(tracking_date, 'YYYY-MM-DD') ORDER BY tracking_date) AS days
FROM (${ofBook("chargebacks", "tracking_dates")}
  UNION ALL${ofBook("attributions to topics", "topic_attribution_dates")}
) AS lacking
GROUP BY book, lack, provisional
ORDER BY min(tracking_date), book DESC, lack, provisional`,
    values: [input.tenantName, input.start, input.end],
  };
}
