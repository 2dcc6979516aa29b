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
        "The least important level that is logged. In any case; `warning` is `warn`, `critical` is `fatal`.",
      expected: "one of fatal (or critical), error, warn (or warning), info, debug, trace",
      synonyms: { critical: "fatal", warning: "warn" },
      default: "info",
    }),
  },
  { description: "The log." },
);
