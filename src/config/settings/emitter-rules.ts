/** Rules between the emitters of one tenant. */
import type { Rule } from "../reader/setting.js";
import { type Emitter, emitterName } from "./emitters.js";

/** Entries that could not be read are missing, and others may lack keys. */
type ReadEmitters = readonly (Partial<Emitter> | undefined)[];

/** The keys that the rules use, of every type of emitter. */
interface EmitterKeys {
  readonly type: Emitter["type"];
  readonly name?: string | undefined;
  readonly aggregation?: string | undefined;
  readonly pipelines?: readonly (string | undefined)[] | undefined;
}

function present(
  emitters: ReadEmitters | undefined,
): readonly { readonly index: number; readonly emitter: EmitterKeys }[] {
  return [...(emitters ?? []).entries()].flatMap(([index, emitter]) =>
    emitter?.type === undefined ? [] : [{ index, emitter: { ...emitter, type: emitter.type } }],
  );
}

const spans = ["hourly", "daily", "monthly"];

/** The parts of `plugin_settings` that the rules use. */
interface EmittingSettings {
  readonly emitters: Emitter[];
  readonly chargeback_granularity: "daily";
}

export const emitterRules: Rule<EmittingSettings>[] = [
  {
    rule: "No two `emitters` have the same name; the default name is the type.",
    check({ emitters }, report) {
      const first = new Map<string, number>();
      for (const { index, emitter } of present(emitters)) {
        const name = emitterName(emitter).toLowerCase();
        const earlier = first.get(name);
        if (earlier === undefined) first.set(name, index);
        else
          report(["emitters", index, "name"], `is that of entry [${earlier}]; give each a name of its own`);
      }
    },
  },
  {
    rule: "At most one of the `emitters` is of type `prometheus`: a tenant has one page.",
    check({ emitters }, report) {
      const [, ...more] = present(emitters).filter(({ emitter }) => emitter.type === "prometheus");
      for (const { index } of more)
        report(["emitters", index, "type"], "is prometheus a second time: a tenant has one page");
    },
  },
  {
    rule: "The `aggregation` of an emitter is not finer than `chargeback_granularity`.",
    check({ emitters, chargeback_granularity: granularity = "daily" }, report) {
      for (const { index, emitter } of present(emitters)) {
        if (emitter.aggregation === undefined) continue;
        if (spans.indexOf(emitter.aggregation) >= spans.indexOf(granularity)) continue;
        report(
          ["emitters", index, "aggregation"],
          `must not be finer than chargeback_granularity (${granularity}), which ${emitter.aggregation} is`,
        );
      }
    },
  },
  {
    rule: "The rows of `topic_attribution` are emitted unchanged: its emitter has no `aggregation` of files.",
    check({ emitters }, report) {
      for (const { index, emitter } of present(emitters)) {
        if (emitter.type !== "csv" || emitter.aggregation === undefined) continue;
        const chosen: readonly (string | undefined)[] = emitter.pipelines ?? [];
        if (chosen.includes("topic_attribution"))
          report(
            ["emitters", index, "aggregation"],
            "must be left out with topic_attribution, whose rows are not summed; use an emitter for each",
          );
      }
    },
  },
  {
    rule: "`pipelines` of an emitter name each pipeline once, and `topic_attribution` only where it is enabled.",
    check(settings, report) {
      const topics: unknown = Reflect.get(settings, "topic_attribution");
      const enabled =
        topics !== null && typeof topics === "object" && Reflect.get(topics, "enabled") === true;
      for (const { index, emitter } of present(settings.emitters)) {
        const chosen: readonly (string | undefined)[] = emitter.pipelines ?? [];
        const path = ["emitters", index, "pipelines"];
        const repeated = chosen.find(
          (name, position) => name !== undefined && chosen.indexOf(name) < position,
        );
        if (repeated !== undefined) report(path, `names ${repeated} twice`);
        if (!enabled && chosen.includes("topic_attribution"))
          report(path, "names topic_attribution, which needs `topic_attribution.enabled: true`");
      }
    },
  },
];
