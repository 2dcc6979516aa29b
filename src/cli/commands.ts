import { backup } from "./backup.js";
import { checkConfig } from "./check-config.js";
import type { Command } from "./command.js";
import { demo } from "./demo.js";
import { explain } from "./explain.js";
import { exportCsv } from "./export.js";
import { focusCheck } from "./focus-check.js";
import { grants } from "./grants.js";
import { migrate } from "./migrate.js";
import { moveTenant } from "./move-tenant.js";
import { reconcile } from "./reconcile.js";
import { restore } from "./restore.js";
import { rules } from "./rules.js";
import { run } from "./run.js";
import { sampleBill } from "./sample-bill.js";
import { serve } from "./serve.js";
import { simulate } from "./simulate.js";
import { token } from "./token.js";

/** Every command, in the order of `--help`. */
export const commands: readonly Command[] = [
  demo,
  serve,
  run,
  reconcile,
  exportCsv,
  explain,
  rules,
  checkConfig,
  focusCheck,
  migrate,
  backup,
  restore,
  moveTenant,
  token,
  grants,
  simulate,
  sampleBill,
];
