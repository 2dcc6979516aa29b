/** `features`: the schedule of the pipeline, and the number of tenants that run at once. */
import { DAY_SECONDS } from "../../common/days.js";
import { flag, integer, section } from "../reader/setting.js";

/** Timers of Node.js are limited to 2^31 − 1 milliseconds, a little under 25 days. */
export const LONGEST_TIMER_SECONDS = 24 * DAY_SECONDS;

export const featuresSettings = section(
  {
    enable_periodic_refresh: flag({
      description:
        "Run the pipeline repeatedly in modes `worker` and `both`. " +
        "`false`: each tenant once at start, then only runs that the API triggers.",
      default: true,
    }),
    refresh_interval: integer({
      description:
        "The time from the start of a tenant's run to the start of its next one, on any worker. A run that failed " +
        "because a store was lost is repeated sooner.",
      unit: "seconds",
      minimum: 1,
      maximum: LONGEST_TIMER_SECONDS,
      default: 1800,
    }),
    max_parallel_tenants: integer({
      description: "How many tenants are processed at the same time by one process.",
      unit: "tenants",
      minimum: 1,
      maximum: 64,
      default: 4,
    }),
  },
  { description: "The schedule of the pipeline." },
);
