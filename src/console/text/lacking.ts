/** Texts about what is missing on unallocated lines. */
import { counted } from "../../common/plural.js";
import type { Schemas } from "../api/client.js";

type Lack = Schemas["WorklistItem"]["lacks"][number];

const readFrom = ({ tag, column }: Lack) =>
  tag === undefined ? `the column ${column}` : `the bill tag ${tag}`;

const meantBy = ({ similar_tag: similar }: Lack) =>
  similar === undefined ? "" : `, but there is a bill tag ${similar}: did you mean that?`;

const fileOf = (path = "") => path.split("/").at(-1);

const reasons: Readonly<Record<Lack["reason"], (lack: Lack) => string>> = {
  no_tag: (lack) => `no bill tag ${lack.tag}${meantBy(lack)}`,
  no_value: (lack) => `${readFrom(lack)} is empty${meantBy(lack)}`,
  not_in_map: (lack) => `${lack.value} is not in ${fileOf(lack.map)} (${readFrom(lack)})`,
  no_match: (lack) => `${lack.value} does not match ${lack.pattern} (${readFrom(lack)})`,
  no_identity: (lack) => `${lack.value} cannot be an identity (${readFrom(lack)})`,
  now_known: (lack) => `nothing now: ${lack.identity} became known after these days were calculated`,
};

export const lacking = {
  title: "Unallocated lines, and what they are missing",
  lead: "What each identity source needs: a bill tag on the resource, or an entry in a map.",
  lacks: "Missing",
  lack: (lack: Lack) => reasons[lack.reason](lack),
  named: (identity: string) => `names ${identity}, but its rule does not use that`,
  lines: "Lines",
  example: "Example",
  count: (count: number) => counted(count, "cause", "causes"),
} as const;
