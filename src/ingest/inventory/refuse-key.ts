/** Which ids and types of entities cannot be stored, said once for records that come one by one and for rows that the store selects. */
import { literal } from "../../store/clickhouse/sql-text.js";
import { LONGEST_ID } from "../../store/text-limits.js";

/** An index of Postgres takes no entry of more than 2,704 bytes; the name of the tenant is part of it. */
const MOST_BYTES = 2000;

interface Problem {
  readonly says: string;
  readonly of: (text: string) => boolean;
  /** The same as a condition on an expression. */
  readonly sql: (text: string) => string;
}

const problems: readonly Problem[] = [
  { says: "is empty", of: (text) => text === "", sql: (text) => `${text} = ''` },
  {
    says: `is longer than ${LONGEST_ID} characters`,
    of: (text) => text.length > LONGEST_ID,
    sql: (text) => `lengthUTF8(${text}) > ${LONGEST_ID}`,
  },
  {
    says: `is longer than ${MOST_BYTES} bytes`,
    of: (text) => Buffer.byteLength(text) > MOST_BYTES,
    sql: (text) => `length(${text}) > ${MOST_BYTES}`,
  },
  {
    says: "has control characters",
    of: (text) => /[\p{Cc}\p{Surrogate}]/u.test(text),
    sql: (text) => `NOT isValidUTF8(${text}) OR match(${text}, '\\\\p{Cc}')`,
  },
];

/** What is wrong, or undefined. */
export function refuseKey(id: string, type: string): string | undefined {
  for (const [name, text] of [
    ["id", id],
    ["type", type],
  ] as const) {
    const problem = problems.find(({ of }) => of(text));
    if (problem !== undefined) return sentence(name, problem);
  }
  return undefined;
}

/** What is wrong, or an empty text, as an expression on two expressions. */
export function refusalSql(id: string, type: string): string {
  const cases = [
    ...problems.map((problem) => `${problem.sql(id)}, ${literal(sentence("id", problem))}`),
    ...problems.map((problem) => `${problem.sql(type)}, ${literal(sentence("type", problem))}`),
  ];
  return `multiIf(${cases.join(", ")}, '')`;
}

function sentence(name: "id" | "type", { says }: Problem): string {
  return `its ${name} ${says}`;
}
