/** Figures of deliveries that were measured. */
import { type Arrival, type Step, steps } from "./arrival-watch.js";
import { type Figure, median } from "./measure.js";

/** Targets in seconds. */
interface Targets {
  readonly seen?: number;
  readonly work?: number;
}

export function arrivalFigures(name: string, arrivals: readonly Arrival[], targets: Targets = {}): Figure[] {
  const of = (value: (arrival: Arrival) => number) => median(arrivals.map(value));
  const figure = (
    what: string,
    value: number,
    target: number | undefined,
    more: Partial<Figure>,
  ): Figure => ({
    benchmark: "arrival",
    name: `${name}: ${what}`,
    value,
    unit: "s",
    ...(target !== undefined && { target: { at: "most", value: target } }),
    ...more,
  });
  const shown = (seconds: number) => seconds.toFixed(2);
  const spent = steps.map((step): [Step, number] => [step, of((arrival) => arrival.steps[step])]);
  const inStatements = spent.reduce((sum, [, seconds]) => sum + seconds, 0);
  const worked = of((arrival) => arrival.worked);
  const planning = of((arrival) => arrival.planning);
  const rest = Math.max(0, worked - inStatements);
  const processor = (part: keyof Arrival["processor"]) => of((arrival) => arrival.processor[part]);
  const parts = spent.map(([step, seconds]) =>
    step === "allocating"
      ? `${step} ${shown(seconds)} (planning ${shown(planning)})`
      : `${step} ${shown(seconds)}`,
  );
  return [
    figure(
      "until it is seen",
      of((arrival) => arrival.seen),
      targets.seen,
      {
        note: `noticed after ${shown(of((arrival) => arrival.noticed))}`,
      },
    ),
    figure("work of its run", worked, targets.work, {
      note: `${of((arrival) => arrival.days)} days; ${parts.join(", ")}; Postgres and the service ${shown(rest)}`,
      details: { ...Object.fromEntries(spent), planning },
    }),
    figure("processor time", processor("service") + processor("engine") + processor("postgres"), undefined, {
      note: `service ${shown(processor("service"))}, engine ${shown(processor("engine"))}, Postgres ${shown(processor("postgres"))}`,
    }),
  ];
}
