/** `clickhouse`: settings that the tenants' ClickHouse servers share. */
import { Type } from "@sinclair/typebox";
import { section, text } from "../reader/setting.js";

export function clusterName(description: string) {
  return text({
    description,
    expected: "the name of a cluster in the servers' system.clusters, of letters, digits, `_`, `.` and `-`",
    pattern: "^[A-Za-z0-9_.-]{1,100}$",
  });
}

export const clickhouseSettings = section(
  {
    cluster: Type.Optional(
      clusterName(
        "The cluster whose replicas store the tenants' databases. It has one shard, and needs the macros `shard` and " +
          "`replica`. If left out, each server has the only copy, or replicates by itself, as ClickHouse Cloud does. " +
          "Tenants with an embedded store ignore it.",
      ),
    ),
  },
  { description: "ClickHouse servers of your own." },
);
