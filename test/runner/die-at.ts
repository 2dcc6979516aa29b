import { writeSync } from "node:fs";
import { createRequire } from "node:module";
import type { ClickHouseClient } from "@clickhouse/client";
import type { KillPoint } from "./kill-points.js";

type Send = (this: unknown, ...input: unknown[]) => Promise<unknown>;

/** Statements of this process pass by here on their way to a store: at the point it says so and gets SIGKILL. */
export function dieAt(point: KillPoint, clickhouse: ClickHouseClient): void {
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
  const passingBy = (send: Send, textOf: (input: unknown) => string): Send =>
    async function (...input) {
      if (!isTheOne(textOf(input[0]))) return await send.apply(this, input);
      if (point.when === "before") die();
      const answer = send.apply(this, input);
      if (point.when === "during") setTimeout(die, Math.random() * 20);
      await answer;
      if (point.when === "after") die();
      return await new Promise(() => undefined);
    };
  if (point.store === "clickhouse") {
    const command = clickhouse.command.bind(clickhouse) as Send;
    Object.assign(clickhouse, { command: passingBy(command, (input) => (input as { query: string }).query) });
    return;
  }
  const { Client } = createRequire(import.meta.url)("pg") as { Client: { prototype: { query: Send } } };
  const { prototype } = Client;
  prototype.query = passingBy(prototype.query, (input) =>
    typeof input === "string" ? input : String((input as { text?: string }).text),
  );
}
