import { writeSync } from "node:fs";
import { createRequire } from "node:module";
import type { ClickHouseClient } from "@clickhouse/client";
import type { StatementPoint } from "./kill-points.js";

type Send = (this: unknown, ...input: unknown[]) => Promise<unknown>;

/** Intercepts statements of this process on their way to a store. At the given point it reports and gets SIGKILL. */
export function dieAt(point: StatementPoint, clickhouse: Pick<ClickHouseClient, "command" | "insert">): void {
  const remaining = point.statements.map((each) => new RegExp(each));
  const isTheOne = (text: string): boolean => {
    if (remaining[0]?.test(text)) remaining.shift();
    else return false;
    return remaining.length === 0;
  };
  const die = () => {
    writeSync(1, `${JSON.stringify({ hit: point.name })}\n`);
    process.kill(process.pid, "SIGKILL");
  };
  const dyingAt = async (sending: () => Promise<unknown>) => {
    if (point.when === "before") die();
    const response = sending();
    if (point.when === "during") setTimeout(die, Math.random() * 20);
    await response;
    if (point.when === "after") die();
    return await new Promise(() => undefined);
  };
  // Other statements return the client's own result, which for a COPY is a stream.
  const passingBy = (send: Send, textOf: (input: unknown) => string): Send =>
    function (...input) {
      const sending = () => send.apply(this, input);
      return isTheOne(textOf(input[0])) ? dyingAt(sending) : sending();
    };
  if (point.store === "clickhouse") {
    const { command, insert } = clickhouse as unknown as Record<"command" | "insert", Send>;
    Object.assign(clickhouse, {
      command: passingBy(command, (input) => (input as { query: string }).query),
      insert: passingBy(insert, (input) => `INSERT INTO ${(input as { table: string }).table}`),
    });
    return;
  }
  const { Client } = createRequire(import.meta.url)("pg") as { Client: { prototype: { query: Send } } };
  const { prototype } = Client;
  prototype.query = passingBy(prototype.query, (input) =>
    typeof input === "string" ? input : String((input as { text?: string }).text),
  );
}
