/** Rules across tenants: no emitted files that overwrite each other, and none that lose days. */
import { join, resolve } from "node:path";
import { Value } from "@sinclair/typebox/value";
import type { Rule } from "../reader/setting.js";
import { LONGEST_MONTH, monthsProblem } from "../reader/whole-months.js";
import { fileNameOf, LONGEST_FILE_NAME } from "./emitted-file.js";
import { type CsvEmitter, csvEmitterSettings, emitterName, focusEmitterSettings, isS3 } from "./emitters.js";
import type { PluginSettings } from "./plugin-settings.js";

/** Keys that could not be read are missing. */
interface Tenant {
  tenant_id?: string;
  lookback_days?: number;
  retention_days?: number;
  plugin_settings?: Partial<PluginSettings>;
}
type Tenants = Readonly<Record<string, Tenant>>;

export const emittedMonthsRule: Rule<{ tenants: Tenants }> = {
  rule:
    `An emitter with \`aggregation: monthly\`, or of type \`focus\`, needs \`retention_days\` of at least \`lookback_days\` + ${LONGEST_MONTH}: otherwise ` +
    "days of a month are dropped while others still change.",
  check({ tenants = {} }, report) {
    for (const [tenantName, tenant] of Object.entries(tenants)) {
      for (const [index, emitter] of (tenant.plugin_settings?.emitters ?? []).entries()) {
        const monthly = emitter?.type === "csv" && emitter.aggregation === "monthly";
        if (!monthly && emitter?.type !== "focus") continue;
        const problem = monthsProblem(monthly ? "is monthly" : "is focus, whose files hold months", tenant);
        const key = monthly ? "aggregation" : "type";
        if (problem !== undefined)
          report(["tenants", tenantName, "plugin_settings", "emitters", index, key], problem);
      }
    }
  },
};

export const emittedFilesRule: Rule<{ tenants: Tenants }> = {
  rule:
    "No two emitters of any tenants, and no two pipelines of one, write files of the same name: `output_dir` or " +
    `\`filename_template\` tells them apart. A file name has at most ${LONGEST_FILE_NAME} bytes.`,
  check({ tenants = {} }, report) {
    const taken = new Map<string, string>();
    for (const [tenantName, { tenant_id: tenantId, plugin_settings: settings }] of Object.entries(tenants)) {
      for (const [index, emitter] of (settings?.emitters ?? []).entries()) {
        if (tenantId === undefined || !Value.Check(csvEmitterSettings, emitter)) continue;
        const problem = nameProblem(emitter, { tenantName, tenantId }, taken);
        const path = ["tenants", tenantName, "plugin_settings", "emitters", index, "params"];
        if (problem !== undefined) report([...path, "filename_template"], problem);
      }
    }
  },
};

export const emittedDatasetsRule: Rule<{ tenants: Tenants }> = {
  rule: "No two emitters of type `focus` of one tenant write to the same `location`, and none writes where `sources` of its tenant are read.",
  check({ tenants = {} }, report) {
    for (const [tenantName, { plugin_settings: settings }] of Object.entries(tenants)) {
      const taken = new Map<string, string>();
      for (const [index, emitter] of (settings?.emitters ?? []).entries()) {
        if (!Value.Check(focusEmitterSettings, emitter)) continue;
        const location = comparableLocation(emitter.params.location);
        const earlier = taken.get(location);
        const path = ["tenants", tenantName, "plugin_settings", "emitters", index, "params", "location"];
        if (earlier !== undefined)
          report(path, `is that of ${earlier}, and each would remove the files of the other`);
        else if (
          locationsOf(settings).some((source) => isWithin(source, location) || isWithin(location, source))
        )
          report(path, "overlaps a source of the tenant, whose bill would grow by its own chargebacks");
        taken.set(location, emitterName(emitter));
      }
    }
  },
};

/** A comparable form of the location, in lower case, because some file systems ignore case. */
function comparableLocation(location: string): string {
  const normalized = isS3(location) ? location.replace(/\/+$/, "") : resolve(location);
  return normalized.toLowerCase();
}

/** Locations of the tenant's bills. Only `focus` has them. */
function locationsOf(settings: Partial<PluginSettings> | undefined): string[] {
  const sources: unknown = settings === undefined ? undefined : Reflect.get(settings, "sources");
  return (Array.isArray(sources) ? sources : []).flatMap((source: unknown) => {
    const location: unknown =
      source !== null && typeof source === "object" ? Reflect.get(source, "location") : undefined;
    if (typeof location !== "string") return [];
    // The folder above the first pattern of a glob.
    const [plain = ""] = location.split(/[*?[{(!]/, 1);
    return [comparableLocation(plain === location ? location : plain.replace(/[^/]*$/, ""))];
  });
}

function isWithin(inner: string, outer: string): boolean {
  return inner === outer || inner.startsWith(outer.endsWith("/") ? outer : `${outer}/`);
}

/** A whole month, because the name of a month's file can equal that of any of its days. */
const DAYS = Array.from({ length: 31 }, (_, day) => `2026-03-${String(day + 1).padStart(2, "0")}`);

/** Adds the emitter's file names to `taken`. Returns the problem if one is too long or taken already. */
function nameProblem(
  emitter: CsvEmitter,
  tenant: { readonly tenantName: string; readonly tenantId: string },
  taken: Map<string, string>,
): string | undefined {
  const firstDays = emitter.aggregation === "monthly" ? DAYS.slice(0, 1) : DAYS;
  const files = [...new Set(emitter.pipelines)].flatMap((pipeline) =>
    [false, true].flatMap((provisional) =>
      firstDays.map((firstDay) => ({ pipeline, provisional, firstDay })),
    ),
  );
  for (const { pipeline, ...named } of files) {
    const name = fileNameOf(emitter, { ...tenant, pipeline, ...named });
    const bytes = Buffer.byteLength(name);
    if (bytes > LONGEST_FILE_NAME)
      return `gives names of ${bytes} bytes; at most ${LONGEST_FILE_NAME} are allowed`;
    const file = comparableLocation(join(emitter.params.output_dir, name));
    const writer = `${tenant.tenantName}/${emitterName(emitter)}/${pipeline}`;
    const earlier = taken.get(file);
    if (earlier !== undefined)
      return `gives ${writer} the files of ${earlier}: tell them apart, by another folder or with {tenant_name}, {emitter} or {pipeline}`;
    taken.set(file, writer);
  }
  return undefined;
}
