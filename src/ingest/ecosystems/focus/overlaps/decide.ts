/**
 * Decides which of two overlapping bills is charged. Each run decides again, from records and settings alone, without
 * reading lines.
 */
import picomatch from "picomatch";
import type { UncountedLines } from "../../../../postgres/retirement.js";
import type { Overlap, Side } from "./compare.js";

export interface OverlapSettings {
  /** Names of sources, or globs of `SOURCE/FILE`. The bill that matches an earlier entry is charged. */
  readonly precedence: readonly string[];
  /** Sources whose bills all add up, even if they look alike. */
  readonly adding: ReadonlySet<string>;
}

export interface Contender {
  readonly delivery_id: string;
  readonly source: string;
  /**
   * `charged`: it counted before this run. `follows`: it waits to replace a delivery of its scope that counted. `new`:
   * nothing of it was charged.
   */
  readonly standing: "charged" | "follows" | "new";
  /** When a person accepted it, in milliseconds since 1970. */
  readonly accepted: number | undefined;
  readonly overlaps: readonly Overlap[];
}

export interface Decision {
  /** Overlaps that hold it: it must not count until they are decided. */
  readonly held: readonly Overlap[];
  /** Its lines that are charged in another bill. */
  readonly superseded: readonly UncountedLines[];
  /** Undecided overlaps with one side charged, because it counted before the bills were compared. */
  readonly undecided: readonly Overlap[];
}

/** The later standing goes on counting. */
const STANDINGS: readonly Contender["standing"][] = ["new", "follows", "charged"];

/** Returns decisions by delivery id. Deliveries that no overlap concerns have none. */
export function decide(
  contenders: readonly Contender[],
  settings: OverlapSettings,
): ReadonlyMap<string, Decision> {
  const byId = new Map(contenders.map((each) => [each.delivery_id, each]));
  const rank = rankBy(settings.precedence);
  const held = new Map<string, Overlap[]>();
  const superseded = new Map<string, UncountedLines[]>();
  const undecided = new Map<string, Overlap[]>();
  const add = <T>(to: Map<string, T[]>, { delivery_id }: Contender, what: T) =>
    to.set(delivery_id, [...(to.get(delivery_id) ?? []), what]);
  const pairs = contenders.flatMap((own) =>
    own.overlaps.flatMap((overlap) => {
      const other = byId.get(overlap.other.delivery);
      const adds =
        settings.adding.has(own.source) || (other !== undefined && settings.adding.has(other.source));
      return other === undefined || adds
        ? []
        : [{ own, other, overlap, first: firstOf(own, other, overlap, rank) }];
    }),
  );
  const lost = pairs.flatMap(({ own, other, overlap, first }) => {
    if (own !== other || (first !== "side" && first !== "other")) return [];
    return [{ own, overlap, files: (first === "side" ? overlap.other : overlap.side).files }];
  });
  /** Returns true if one side gives way to a third bill of the same delivery, so there is no conflict. */
  const isLost = ({ account, period, side, other, days }: Overlap, own: Contender) =>
    lost.some(
      (each) =>
        each.own === own &&
        each.overlap.account === account &&
        each.overlap.period === period &&
        days.every((day) => each.overlap.days.includes(day)) &&
        [side, other].some(({ files }) => files.every((file) => each.files.includes(file))),
    );
  for (const { own, other, overlap, first } of pairs) {
    if (first !== undefined || (own === other && isLost(overlap, own))) continue;
    const [a, b] = [STANDINGS.indexOf(own.standing), STANDINGS.indexOf(other.standing)];
    if (a !== b) add(held, a < b ? own : other, overlap);
    else if (own.standing !== "charged") for (const each of new Set([own, other])) add(held, each, overlap);
    else {
      // Both were charged before they were compared: the older one goes on counting.
      add(undecided, own, overlap);
      add(superseded, own, partOf(overlap, overlap.side, overlap.other));
    }
  }
  for (const { own, other, overlap, first } of pairs) {
    if (first === undefined || first === "both") continue;
    const [winner, loser] = first === "side" ? [own, other] : [other, own];
    // A held bill supersedes nothing.
    if (held.has(winner.delivery_id)) continue;
    const [lost, won] = first === "side" ? [overlap.other, overlap.side] : [overlap.side, overlap.other];
    add(superseded, loser, partOf(overlap, lost, won));
  }
  const concerned = new Set([...held.keys(), ...superseded.keys(), ...undecided.keys()]);
  return new Map(
    [...concerned].map((id) => [
      id,
      { held: held.get(id) ?? [], superseded: superseded.get(id) ?? [], undecided: undecided.get(id) ?? [] },
    ]),
  );
}

/**
 * Returns the side that a person or a setting puts first. `both` if a person accepted one delivery with two bills that
 * overlap.
 */
function firstOf(
  own: Contender,
  other: Contender,
  { side, other: second, same_bytes }: Overlap,
  rank: (source: string, name: string) => number,
): "side" | "other" | "both" | undefined {
  if (own === other && own.accepted !== undefined) return "both";
  if (own.accepted !== other.accepted) return (own.accepted ?? 0) > (other.accepted ?? 0) ? "side" : "other";
  const [a, b] = [rank(own.source, side.name), rank(other.source, second.name)];
  if (a !== b) return a < b ? "side" : "other";
  if (!same_bytes) return undefined;
  return own.standing === "charged" && other.standing !== "charged" ? "side" : "other";
}

function rankBy(precedence: readonly string[]): (source: string, name: string) => number {
  const matches = precedence.map((pattern) => {
    const glob = picomatch(pattern, { dot: true });
    return (source: string, name: string) => pattern === source || glob(`${source}/${name}`);
  });
  return (source, name) => {
    const at = matches.findIndex((match) => match(source, name));
    return at < 0 ? matches.length : at;
  };
}

/** Supersedes only the days that the other side covers; the rest stays charged. */
function partOf({ account, period }: Overlap, lost: Side, won: Side): UncountedLines {
  return { account, period, from: won.first_day, to: won.last_day, files: [...lost.files] };
}

/** Returns a sentence about an overlap that nothing decides. */
export function overlapProblem(
  { account, period, side, other, days, amounts }: Overlap,
  sourceOf: (delivery: string) => string,
  end: string,
): string {
  const named = ({ delivery, name }: Side) => `${JSON.stringify(name)} of the source ${sourceOf(delivery)}`;
  const first = days[0] ?? "";
  const span = days.length === 1 ? first : `${days.length} days from ${first} to ${days.at(-1) ?? ""}`;
  const stake = amounts.map(({ currency, amount }) => `${amount} ${currency}`).join(" and ");
  return `${named(side)} and ${named(other)} have the same charges of account ${JSON.stringify(account)} in ${period} (${span}, ${stake}): ${end}. To decide, name a source or a file first in \`precedence\`, leave files out with \`exclude\`, or set \`overlap: add\` if both are to be charged`;
}
