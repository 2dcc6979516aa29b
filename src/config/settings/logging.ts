/** `logging`: format and level of the service's log. */
import { choice, section } from "../reader/setting.js";

export const loggingSettings = section(
  {
    format: choice(["json", "pretty"], {
      description: "`json`: one JSON object per line, for machines. `pretty`: coloured lines, for people.",
      default: "json",
    }),
    level: choice(["fatal", "error", "warn", "info", "debug", "trace"], {
      description:
        "The lowest level that is logged. Upper case is accepted. `warning` is the same as `warn`, `critical` the same " +
        "as `fatal`.",
      expected: "one of fatal (or critical), error, warn (or warning), info, debug, trace",
      synonyms: { critical: "fatal", warning: "warn" },
      default: "info",
    }),
  },
  { description: "The log." },
);
