/**
 * Ids and types of entities that cannot be stored, defined once for single records and for rows that the store selects.
 */
import { literal } from "../../clickhouse/sql-text.js";
import { LONGEST_ID } from "../../domain/text-limits.js";

/** An index entry of Postgres has at most 2,704 bytes, and the tenant's name is part of it. */
const MOST_BYTES = 2000;

interface Problem {
  readonly says: string;
  readonly applies: (text: string) => boolean;
  /** The same condition as SQL on an expression. */
  readonly sql: (text: string) => string;
}

const problems: readonly Problem[] = [
  { says: "is empty", applies: (text) => text === "", sql: (text) => `${text} = ''` },
  {
    says: `is longer than ${LONGEST_ID} characters`,
    applies: (text) => text.length > LONGEST_ID,
    sql: (text) => `lengthUTF8(${text}) > ${LONGEST_ID}`,
  },
  {
    says: `is longer than ${MOST_BYTES} bytes`,
    applies: (text) => Buffer.byteLength(text) > MOST_BYTES,
    sql: (text) => `length(${text}) > ${MOST_BYTES}`,
  },
  {
    says: "has control characters",
    applies: (text) => /[\p{Cc}\p{Surrogate}]/u.test(text),
    sql: (text) => `NOT isValidUTF8(${text}) OR match(${text}, '\\\\p{Cc}')`,
  },
];

/** Returns the problem, or undefined. */
export function refuseKey(id: string, type: string): string | undefined {
  for (const [name, text] of [
    ["id", id],
    ["type", type],
  ] as const) {
    const problem = problems.find(({ applies }) => applies(text));
    if (problem !== undefined) return sentence(name, problem);
  }
  return undefined;
}

/** Returns the problem or an empty text, as an SQL expression on two expressions. */
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
